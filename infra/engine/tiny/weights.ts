// The policy's parameters: one flat array, and its exact form on disk.
//
// Layout: ROWS x vocabulary (token weights of each feature row), COPY_WEIGHTS, CRITIC_WEIGHTS. On disk: eight
// little-endian uint32 (magic, format version, vocabulary, rows, copies, critic, 0, 0), then the weights as
// little-endian float32.
import { COPY_WEIGHTS, CRITIC_WEIGHTS, ROWS } from './features.ts';

const MAGIC = 0x52505345; // "ESPR"
const FORMAT = 1;
const HEADER_BYTES = 32;

export interface Weights {
  readonly vocabularySize: number;
  /** Float32 in use; Float64 only where a test compares gradients with finite differences. */
  readonly values: Float32Array | Float64Array;
  readonly copyOffset: number;
  readonly criticOffset: number;
}

/** All-zero weights: every token equally likely, every state worth 0. */
export function zeroWeights(vocabularySize: number): Weights {
  return viewWeights(vocabularySize, new Float32Array(weightCount(vocabularySize)));
}

/** Number of parameters for a vocabulary. */
export function weightCount(vocabularySize: number): number {
  return ROWS * vocabularySize + COPY_WEIGHTS + CRITIC_WEIGHTS;
}

/** Weights over an existing array (not copied). Throws a RangeError when its length does not fit. */
export function viewWeights(vocabularySize: number, values: Float32Array | Float64Array): Weights {
  if (values.length !== weightCount(vocabularySize)) {
    throw new RangeError(`${values.length} weights given, ${weightCount(vocabularySize)} needed`);
  }
  const copyOffset = ROWS * vocabularySize;
  return { vocabularySize, values, copyOffset, criticOffset: copyOffset + COPY_WEIGHTS };
}

export function cloneWeights(weights: Weights): Weights {
  return { ...weights, values: weights.values.slice() };
}

/** Bytes of a weights file. */
export function serializeWeights(weights: Weights): Uint8Array {
  const out = new Uint8Array(HEADER_BYTES + weights.values.length * 4);
  const view = new DataView(out.buffer);
  const header = [MAGIC, FORMAT, weights.vocabularySize, ROWS, COPY_WEIGHTS, CRITIC_WEIGHTS, 0, 0];
  header.forEach((n, i) => {
    view.setUint32(i * 4, n, true);
  });
  for (let i = 0; i < weights.values.length; i++) {
    view.setFloat32(HEADER_BYTES + i * 4, weights.values[i] as number, true);
  }
  return out;
}

/** Reads a weights file back, exactly. Throws an Error that says what does not fit. */
export function deserializeWeights(bytes: Uint8Array): Weights {
  if (bytes.length < HEADER_BYTES) throw new Error('weights file is shorter than its header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = (i: number) => view.getUint32(i * 4, true);
  if (at(0) !== MAGIC) throw new Error('not a weights file of the tiny policy');
  if (at(1) !== FORMAT) throw new Error(`weights file has format ${at(1)}, this program reads ${FORMAT}`);
  if (at(3) !== ROWS || at(4) !== COPY_WEIGHTS || at(5) !== CRITIC_WEIGHTS) {
    throw new Error('weights file was made for other feature sizes');
  }
  const size = at(2);
  const count = weightCount(size);
  if (bytes.length !== HEADER_BYTES + count * 4) {
    throw new Error(`weights file has ${bytes.length} bytes, ${HEADER_BYTES + count * 4} expected`);
  }
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) values[i] = view.getFloat32(HEADER_BYTES + i * 4, true);
  return viewWeights(size, values);
}

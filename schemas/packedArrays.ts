import { endianness } from 'node:os';
import avro from 'avsc';

const BYTES = 4;
const LITTLE = endianness() === 'LE';

/** Avro `bytes` read as Int32Array: little-endian int32 values, nothing else. */
export class Int32ArrayType extends avro.types.LogicalType {
  protected override _fromValue(bytes: Uint8Array): Int32Array {
    return new Int32Array(toNative(bytes));
  }
  protected override _toValue(array: unknown): Buffer | undefined {
    return array instanceof Int32Array ? toLittleEndian(array) : undefined;
  }
  protected override _resolve(writer: avro.Type): unknown {
    return writer instanceof Int32ArrayType ? (value: Int32Array) => value : undefined;
  }
}

/** Avro `bytes` read as Float32Array: little-endian float32 values, nothing else. */
export class Float32ArrayType extends avro.types.LogicalType {
  protected override _fromValue(bytes: Uint8Array): Float32Array {
    return new Float32Array(toNative(bytes));
  }
  protected override _toValue(array: unknown): Buffer | undefined {
    return array instanceof Float32Array ? toLittleEndian(array) : undefined;
  }
  protected override _resolve(writer: avro.Type): unknown {
    return writer instanceof Float32ArrayType ? (value: Float32Array) => value : undefined;
  }
}

/** The logical types of the vocabulary, by the name they have in the schemas. */
export const PACKED_ARRAYS = {
  'int32-array': Int32ArrayType,
  'float32-array': Float32ArrayType,
} as const;

/**
 * One copy into memory of its own: the source may be unaligned, and it may be a view of a buffer
 * that is reused or that would otherwise be kept alive as a whole.
 */
function toNative(bytes: Uint8Array): ArrayBuffer {
  if (bytes.byteLength % BYTES !== 0) throw new Error(`${bytes.byteLength} bytes are no 32-bit values`);
  const own = new Uint8Array(bytes.byteLength);
  own.set(bytes);
  if (!LITTLE) Buffer.from(own.buffer).swap32();
  return own.buffer;
}

function toLittleEndian(array: Int32Array | Float32Array): Buffer {
  const view = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  return LITTLE ? view : Buffer.from(view).swap32();
}

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import xxhash, { type XXHashAPI } from 'xxhash-wasm';
import { digestHex, digestTokens, EMPTY_DIGEST, extendDigest } from '../../schemas/digest.ts';

let reference: XXHashAPI;
beforeAll(async () => {
  reference = await xxhash();
});

const tokens = fc.int32Array({ maxLength: 100 });
const xxh64 = (ids: Int32Array) =>
  reference
    .h64Raw(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength))
    .toString(16)
    .padStart(16, '0');

describe('digest of a history', () => {
  it('is xxh64 of its little-endian int32', () => {
    expect(digestTokens(new Int32Array(0))).toBe('ef46db3751d8e999');
    fc.assert(fc.property(tokens, (ids) => digestTokens(ids) === xxh64(ids)));
  });

  it('can be extended piece by piece, and a kept state is not changed by it', () => {
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 6 }), (pieces) => {
        let digest = EMPTY_DIGEST;
        const steps = pieces.map((piece) => {
          digest = extendDigest(digest, piece);
          return digest;
        });
        steps.forEach((step, i) => {
          const history = Int32Array.from(pieces.slice(0, i + 1).flatMap((piece) => [...piece]));
          expect(digestHex(step)).toBe(xxh64(history));
        });
      }),
    );
  });
});

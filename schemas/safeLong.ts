import avro from 'avsc';

/**
 * Avro `long` as a safe integer. The library's own type loses the sign and last bit of numbers
 * beyond 2^52 without a word; this one is exact up to 2^53 - 1 and refuses the rest.
 */
export function safeLong(): avro.Type {
  return avro.types.LongType.__with({
    fromBuffer: (bytes: Buffer) => {
      const value = Number(bytes.readBigInt64LE());
      if (!Number.isSafeInteger(value)) throw new Error(`${bytes.readBigInt64LE()} is no safe integer`);
      return value;
    },
    toBuffer: (value: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(value));
      return bytes;
    },
    fromJSON: (value: number) => value,
    toJSON: (value: number) => value,
    isValid: (value: unknown) => Number.isSafeInteger(value),
    compare: (a: number, b: number) => Math.sign(a - b),
  });
}

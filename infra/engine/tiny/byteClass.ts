// Coarse classes of bytes, and the small hash every feature is made with.

export const LETTER = 1;
export const DIGIT = 2;
export const SPACE = 3;
export const NEWLINE = 4;
export const QUOTE = 5;
export const OTHER = 6;
export const END = 7;

/** Class of one byte (ASCII; bytes of multi-byte characters count as letters). */
export function byteClass(b: number): number {
  if ((b >= 97 && b <= 122) || (b >= 65 && b <= 90) || b === 95 || b >= 128) return LETTER;
  if (b >= 48 && b <= 57) return DIGIT;
  if (b === 32 || b === 9) return SPACE;
  if (b === 10 || b === 13) return NEWLINE;
  if (b === 34) return QUOTE;
  return OTHER;
}

/** Mixes one more number into a 32-bit hash. */
export function mix(hash: number, value: number): number {
  let h = Math.imul(hash ^ value, 0x9e3779b1);
  h ^= h >>> 15;
  return Math.imul(h, 0x85ebca77) ^ (h >>> 13);
}

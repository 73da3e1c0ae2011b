import { randomBytes } from 'node:crypto';

/** A UUIDv7: calls sort by the time they were made. @param now epoch ms */
export function newCallId(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A tool-call id that survives every harness: letters and digits only, unique. */
export function newToolCallId(): string {
  return `call${randomBytes(12).toString('hex')}`;
}

import type { Topic } from '../../schemas/topics.ts';
import type { LogRecord } from './eventLog.ts';
import type { EncodedRecord } from './recordCodec.ts';

const LENGTH = 4;

/** Key of a record within its topic: partition, then offset, both big endian so that bytes sort. */
export function recordKey(partition: number, offset: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeUInt16BE(partition, 0);
  key.writeUIntBE(offset, 2, 6);
  return key;
}

/** Bytes of a record: length of the head, the head as JSON (key, time, headers), the value. */
export function toStored(record: EncodedRecord, timestamp: number): Buffer {
  const head = Buffer.from(JSON.stringify([record.key, timestamp, record.headers]));
  const stored = Buffer.allocUnsafe(LENGTH + head.byteLength + record.value.byteLength);
  stored.writeUInt32BE(head.byteLength, 0);
  head.copy(stored, LENGTH);
  stored.set(record.value, LENGTH + head.byteLength);
  return stored;
}

/** The record in stored bytes; its value is a view of them. */
export function fromStored(topic: Topic, recordKey: Uint8Array, stored: Buffer): LogRecord {
  const at = Buffer.from(recordKey.buffer, recordKey.byteOffset, recordKey.byteLength);
  const end = LENGTH + stored.readUInt32BE(0);
  const head = JSON.parse(stored.toString('utf8', LENGTH, end));
  const [key, timestamp, headers] = head as [string, number, Record<string, string>];
  const position = { partition: at.readUInt16BE(0), offset: BigInt(at.readUIntBE(2, 6)) };
  return { topic, ...position, key, timestamp, headers, value: stored.subarray(end) };
}

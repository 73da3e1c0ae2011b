import { type Codec, createCodec } from '../../schemas/codec.ts';
import { EspalierError } from '../../schemas/errors.ts';
import { frame, unframe } from '../../schemas/framing.ts';
import { type EspalierEvent, EVENT_TYPES, type EventType } from '../../schemas/generated/events.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import { keyOf, TOPICS } from '../../schemas/topics.ts';
import type { Registry } from '../registry/registry.ts';
import type { LogRecord, Outgoing } from './eventLog.ts';

/** An event ready to be written. */
export interface EncodedRecord {
  readonly topic: Outgoing['topic'];
  readonly partition: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Uint8Array;
}

/** Events to framed records and back, for any log adapter. */
export interface RecordCodec {
  /** @throws EspalierError E_EVENT_ENCODE, E_LOG_RECORD_TOO_LARGE */
  encode(outgoing: Outgoing): EncodedRecord;
  /** Fetches the writer schemas of these records, so that `decode` need not wait. */
  prepare(records: readonly LogRecord[]): Promise<void>;
  /** @throws EspalierError E_EVENT_DECODE */
  decode(record: LogRecord): EspalierEvent;
}

/**
 * @param options.partitions of every topic
 * @param options.recordLimit largest framed value in bytes
 */
export async function createRecordCodec(options: {
  readonly registry: Registry;
  readonly partitions: number;
  readonly recordLimit: number;
  readonly codec?: Codec;
}): Promise<RecordCodec> {
  const { registry, partitions, recordLimit } = options;
  const codec = options.codec ?? createCodec();
  const ids = new Map(
    await Promise.all(EVENT_TYPES.map(async (type) => [type, await registry.idFor(type)] as const)),
  );
  const writers = new Map<number, { readonly type: EventType; readonly schema: object } | undefined>();
  for (const [type, id] of ids) writers.set(id, { type, schema: codec.schemaOf(type) });

  return {
    encode({ topic, event }) {
      if (!(TOPICS[topic].carries as readonly EventType[]).includes(event.type)) {
        throw new EspalierError('E_EVENT_ENCODE', `topic ${topic} does not carry ${event.type}`);
      }
      const value = frame(ids.get(event.type) as number, codec.encode(event));
      if (value.byteLength > recordLimit) {
        throw new EspalierError(
          'E_LOG_RECORD_TOO_LARGE',
          `${event.type} has ${value.byteLength} bytes; the limit of a record is ${recordLimit}`,
        );
      }
      const key = keyOf(topic, event);
      return { topic, key, partition: partitionOf(key, partitions), headers: headersOf(event), value };
    },

    async prepare(records) {
      for (const record of records) {
        const id = schemaIdOf(record);
        // Looked up again while unknown: the writer may have registered it since.
        if (id !== null && writers.get(id) === undefined) writers.set(id, await registry.schemaFor(id));
      }
    },

    decode(record) {
      const { schemaId, body } = unframe(record.value);
      const writer = writers.get(schemaId);
      if (writer === undefined) {
        throw new EspalierError('E_EVENT_DECODE', `no schema is registered under id ${schemaId}`);
      }
      if (!(TOPICS[record.topic].carries as readonly EventType[]).includes(writer.type)) {
        throw new EspalierError('E_EVENT_DECODE', `topic ${record.topic} does not carry ${writer.type}`);
      }
      return codec.decode(writer.type, body, { id: schemaId, schema: writer.schema });
    },
  };
}

/** What a reader can know of a record without decoding it. */
function headersOf(event: EspalierEvent): Record<string, string> {
  const headers: Record<string, string> = { type: event.type };
  if ('runId' in event) headers.run = event.runId;
  if ('groupId' in event) headers.group = event.groupId;
  if ('rolloutId' in event) headers.rollout = event.rolloutId;
  if ('attempt' in event && event.attempt !== null) headers.attempt = String(event.attempt);
  if ('callId' in event) headers.call = event.callId;
  return headers;
}

function schemaIdOf(record: LogRecord): number | null {
  try {
    return unframe(record.value).schemaId;
  } catch {
    return null;
  }
}

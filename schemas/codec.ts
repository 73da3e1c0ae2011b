import avro from 'avsc';
import { EspalierError } from './errors.ts';
import type { EspalierEvent, EventType } from './generated/events.ts';
import { type AvroRecord, loadSchemas, type SchemaSet, standaloneSchema } from './loadSchemas.ts';
import { PACKED_ARRAYS } from './packedArrays.ts';
import { plainReader } from './plainReader.ts';
import { safeLong } from './safeLong.ts';

/** The schema a body was written under, as a registry stores it. */
export interface WriterSchema {
  readonly id: number;
  readonly schema: object;
}

/** Turns events into Avro bodies and back. */
export interface Codec {
  /** Avro body of an event, without framing. @throws EspalierError E_EVENT_ENCODE */
  encode(event: EspalierEvent): Uint8Array;
  /**
   * The event in a body. Written under an older or newer schema, it is read through Avro's schema
   * resolution: unknown fields are skipped, missing ones get their default.
   * @throws EspalierError E_EVENT_DECODE
   */
  decode(type: EventType, body: Uint8Array, writer?: WriterSchema): EspalierEvent;
  /** The document to register for an event. */
  schemaOf(type: EventType): AvroRecord;
}

/** Avro type of a schema document, with packed arrays as typed arrays and nullable fields unwrapped. */
export function avroType(schema: object): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, {
    logicalTypes: PACKED_ARRAYS,
    assertLogicalTypes: true,
    wrapUnions: 'never',
    registry: { long: safeLong() },
    omitRecordMethods: true,
  });
}

interface Entry {
  readonly schema: AvroRecord;
  readonly type: avro.Type;
  readonly plain: (value: unknown) => object;
  /** By writer schema id: a resolver, or null where the writer's schema is the reader's. */
  readonly writers: Map<number, avro.Resolver | null>;
}

/** A codec over a set of schemas, the current ones by default. */
export function createCodec(set: SchemaSet = loadSchemas()): Codec {
  const entries = new Map<EventType, Entry>();
  const entryOf = (type: EventType): Entry => {
    let entry = entries.get(type);
    if (entry === undefined) {
      const schema = standaloneSchema(set, type);
      entry = { schema, type: avroType(schema), plain: plainReader(schema), writers: new Map() };
      entries.set(type, entry);
    }
    return entry;
  };
  return {
    encode(event) {
      try {
        return entryOf(event.type).type.toBuffer(withBuffers(event));
      } catch (cause) {
        throw new EspalierError('E_EVENT_ENCODE', `cannot encode ${event.type}: ${messageOf(cause)}`, {
          cause,
        });
      }
    },
    decode(type, body, writer) {
      try {
        const entry = entryOf(type);
        const resolver = writer === undefined ? null : resolverOf(entry, writer);
        const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
        const value = entry.type.fromBuffer(buffer, resolver ?? undefined);
        return { type, ...entry.plain(value) } as EspalierEvent;
      } catch (cause) {
        throw new EspalierError('E_EVENT_DECODE', `cannot decode ${type}: ${messageOf(cause)}`, { cause });
      }
    },
    schemaOf: (type) => entryOf(type).schema,
  };
}

/** The Avro library takes plain `bytes` as Node buffers only; these are views, not copies. */
function withBuffers(event: EspalierEvent): EspalierEvent {
  if (event.type !== 'DeadLettered') return event;
  const { buffer, byteOffset, byteLength } = event.value;
  return { ...event, value: Buffer.from(buffer, byteOffset, byteLength) };
}

function resolverOf(entry: Entry, writer: WriterSchema): avro.Resolver | null {
  let resolver = entry.writers.get(writer.id);
  if (resolver === undefined) {
    const same = JSON.stringify(writer.schema) === JSON.stringify(entry.schema);
    resolver = same ? null : entry.type.createResolver(avroType(writer.schema));
    entry.writers.set(writer.id, resolver);
  }
  return resolver;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

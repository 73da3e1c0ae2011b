import type { AvroRecord, AvroType } from './loadSchemas.ts';

type Reader = (value: unknown) => unknown;

/**
 * A function that copies a decoded record into plain objects. The Avro library builds instances of
 * classes of its own and Node buffers; events are plain data, equal to what was encoded.
 */
export function plainReader(schema: AvroRecord): (value: unknown) => object {
  const records = new Map<string, Reader>();
  const ofRecord = (record: AvroRecord): Reader => {
    let fields: readonly (readonly [string, Reader])[] = [];
    const read: Reader = (value) => {
      const source = value as Record<string, unknown>;
      const copy: Record<string, unknown> = {};
      for (const [name, reader] of fields) copy[name] = reader(source[name]);
      return copy;
    };
    records.set(record.name, read);
    fields = record.fields.map((field) => [field.name, ofType(field.type)] as const);
    return read;
  };
  const ofType = (type: AvroType): Reader => {
    if (typeof type === 'string') return type === 'bytes' ? bytes : (records.get(type) ?? same);
    if (Array.isArray(type)) {
      const inner = ofType(type.find((branch) => branch !== 'null') ?? 'null');
      return (value) => (value === null ? null : inner(value));
    }
    if ('items' in type) {
      const item = ofType(type.items);
      return item === same ? same : (value) => (value as unknown[]).map(item);
    }
    if ('values' in type) {
      const inner = ofType(type.values);
      return (value) => Object.fromEntries(Object.entries(value as object).map(([k, v]) => [k, inner(v)]));
    }
    return 'fields' in type ? ofRecord(type) : same;
  };
  return ofRecord(schema) as (value: unknown) => object;
}

const same: Reader = (value) => value;
const bytes: Reader = (value) => Uint8Array.from(value as Uint8Array);

import { readdirSync, readFileSync } from 'node:fs';

/** An Avro record schema as parsed JSON. */
export interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly namespace: string;
  readonly doc: string;
  readonly fields: readonly AvroField[];
}

/** A field of an Avro record. */
export interface AvroField {
  readonly name: string;
  readonly doc?: string;
  readonly type: AvroType;
  readonly default?: unknown;
}

/** The subset of Avro that the vocabulary uses. */
export type AvroType =
  | string
  | AvroRecord
  | { readonly type: 'array'; readonly items: AvroType }
  | { readonly type: 'map'; readonly values: AvroType }
  | { readonly type: 'bytes'; readonly logicalType: 'int32-array' | 'float32-array' }
  | AvroType[];

/** All record schemas: shared parts and events, by name, as they stand in the files. */
export interface SchemaSet {
  readonly parts: ReadonlyMap<string, AvroRecord>;
  readonly events: ReadonlyMap<string, AvroRecord>;
}

/** Reads every `.avsc` beside this file. Files are the single source of all event types. */
export function loadSchemas(): SchemaSet {
  const here = new URL('.', import.meta.url);
  return { parts: readFolder(new URL('types/', here)), events: readFolder(here) };
}

function readFolder(folder: URL): Map<string, AvroRecord> {
  const found = new Map<string, AvroRecord>();
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.avsc')) continue;
    const schema = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as AvroRecord;
    if (`${schema.name}.avsc` !== file) throw new Error(`${file} declares ${schema.name}`);
    found.set(schema.name, schema);
  }
  return found;
}

/**
 * A schema that stands alone: each shared part is written out where it is first used, since a
 * schema registry stores every event as one document.
 */
export function standaloneSchema(set: SchemaSet, name: string): AvroRecord {
  const event = set.events.get(name);
  if (event === undefined) throw new Error(`no schema named ${name}`);
  const written = new Set<string>();
  const expand = (type: AvroType): AvroType => {
    if (typeof type === 'string') {
      const part = set.parts.get(type);
      if (part === undefined || written.has(type)) return type;
      written.add(type);
      return record(part);
    }
    if (Array.isArray(type)) return type.map(expand);
    if ('items' in type) return { ...type, items: expand(type.items) };
    if ('values' in type) return { ...type, values: expand(type.values) };
    return type;
  };
  const record = (schema: AvroRecord): AvroRecord => ({
    ...schema,
    fields: schema.fields.map((f) => ({ ...f, type: expand(f.type) })),
  });
  return record(event);
}

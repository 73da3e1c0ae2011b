import fc from 'fast-check';
import type { EspalierEvent, EventType } from '../../schemas/generated/events.ts';
import { type AvroRecord, type AvroType, loadSchemas, type SchemaSet } from '../../schemas/loadSchemas.ts';

/** Values of an event, derived from its schema, so that a new field is covered without a change here. */
export function eventArbitrary(type: EventType, set: SchemaSet = loadSchemas()): fc.Arbitrary<EspalierEvent> {
  const schema = set.events.get(type);
  if (schema === undefined) throw new Error(`no schema named ${type}`);
  return recordArbitrary(schema, set).map((fields) => ({ type, ...fields }) as EspalierEvent);
}

function recordArbitrary(schema: AvroRecord, set: SchemaSet): fc.Arbitrary<object> {
  const model = Object.fromEntries(
    schema.fields.map((field) => [field.name, typeArbitrary(field.type, set)]),
  );
  return fc.record(model, { noNullPrototype: true });
}

function typeArbitrary(type: AvroType, set: SchemaSet): fc.Arbitrary<unknown> {
  if (typeof type === 'string') {
    const part = set.parts.get(type);
    return part === undefined ? primitiveArbitrary(type) : recordArbitrary(part, set);
  }
  if (Array.isArray(type)) return fc.oneof(...type.map((branch) => typeArbitrary(branch, set)));
  if ('items' in type) return fc.array(typeArbitrary(type.items, set), { maxLength: 4 });
  if ('values' in type) {
    const key = text().filter((k) => k !== '__proto__');
    return fc.dictionary(key, typeArbitrary(type.values, set), { maxKeys: 4, noNullPrototype: true });
  }
  if ('logicalType' in type) {
    return type.logicalType === 'int32-array'
      ? fc.int32Array({ maxLength: 40 })
      : fc.float32Array({ maxLength: 40, noNaN: true });
  }
  throw new Error(`no values for ${JSON.stringify(type)}`);
}

function primitiveArbitrary(type: string): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'int':
      return fc.integer();
    case 'long':
      return fc.maxSafeInteger();
    case 'float':
      return fc.float({ noNaN: true });
    case 'double':
      return fc.double({ noNaN: true });
    case 'string':
      return text();
    case 'bytes':
      return fc.uint8Array({ maxLength: 40 });
    default:
      throw new Error(`no values for ${type}`);
  }
}

const text = () => fc.string({ unit: 'binary', maxLength: 12 });

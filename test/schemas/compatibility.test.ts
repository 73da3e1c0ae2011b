import { existsSync, readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { avroType, createCodec } from '../../schemas/codec.ts';
import { EVENT_TYPES, type EventType } from '../../schemas/generated/events.ts';
import { isFullyCompatible, whyIncompatible } from '../../schemas/isFullyCompatible.ts';
import { type AvroField, type AvroRecord, loadSchemas, standaloneSchema } from '../../schemas/loadSchemas.ts';
import { eventArbitrary } from '../support/eventArbitrary.ts';

// schemas/versions/<any name>/<Event>.avsc: standalone documents as they were once published.
const VERSIONS = new URL('../../schemas/versions/', import.meta.url);
const set = loadSchemas();
const older = existsSync(VERSIONS)
  ? readdirSync(VERSIONS, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.avsc'))
      .map((file) => ({
        file,
        schema: JSON.parse(readFileSync(new URL(file, VERSIONS), 'utf8')) as AvroRecord,
      }))
  : [];

describe('published schema versions', () => {
  it('and the current ones read each other', () => {
    for (const { file, schema } of older) {
      const current = standaloneSchema(set, schema.name);
      expect({ file, why: whyIncompatible(schema, current) }).toEqual({ file, why: null });
      for (const event of fc.sample(eventArbitrary(schema.name as EventType, set), { numRuns: 5, seed: 1 })) {
        const back = avroType(schema).createResolver(avroType(current));
        avroType(schema).fromBuffer(avroType(current).toBuffer(event) as Buffer, back);
      }
    }
  });
});

const base = standaloneSchema(set, 'RolloutEnded');
const withFields = (fields: readonly AvroField[]): AvroRecord => ({ ...base, fields });

describe('isFullyCompatible', () => {
  it.each(EVENT_TYPES)('accepts %s unchanged', (type) => {
    const schema = standaloneSchema(set, type);
    expect(whyIncompatible(schema, schema)).toBeNull();
  });

  it('accepts a new field with a default', () => {
    const next = withFields([...base.fields, { name: 'signal', type: ['null', 'string'], default: null }]);
    expect(isFullyCompatible(base, next)).toBe(true);
  });

  it.each([
    ['a new field without a default', withFields([...base.fields, { name: 'signal', type: 'string' }])],
    ['a removed field that readers need', withFields(base.fields.filter((f) => f.name !== 'runId'))],
    ['a widened field', retyped('attempt', 'long')],
    ['a retyped field', retyped('outcome', 'int')],
    ['a renamed field', withFields(base.fields.map((f) => (f.name === 'runId' ? { ...f, name: 'run' } : f)))],
    ['a field that became nullable', retyped('outcome', ['null', 'string'])],
  ])('refuses %s', (_, next) => {
    expect(isFullyCompatible(base, next)).toBe(false);
  });

  it('refuses packed integers read as packed floats', () => {
    const schema = standaloneSchema(set, 'ModelCalled');
    const fields = schema.fields.map((f) =>
      f.name === 'envTokenIds' ? { ...f, type: { type: 'bytes', logicalType: 'float32-array' } as const } : f,
    );
    expect(isFullyCompatible(schema, { ...schema, fields })).toBe(false);
  });
});

describe('decoding under the schema of the writer', () => {
  it('fills what an older writer did not know and skips what a newer one added', () => {
    const codec = createCodec();
    const event = { type: 'RunEnded', runId: 'r', reason: 'done', at: 5 } as const;
    const schema = codec.schemaOf('RunEnded');
    const old = { ...schema, fields: schema.fields.filter((f) => f.name !== 'at') };
    const oldBody = avroType(old).toBuffer(event);
    expect(codec.decode('RunEnded', oldBody, { id: 1, schema: old })).toStrictEqual({ ...event, at: 0 });
    const next = { ...schema, fields: [{ name: 'extra', type: 'string', default: '' }, ...schema.fields] };
    const nextBody = avroType(next).toBuffer({ ...event, extra: 'news' });
    expect(codec.decode('RunEnded', nextBody, { id: 2, schema: next })).toStrictEqual(event);
  });
});

function retyped(name: string, type: AvroField['type']): AvroRecord {
  return withFields(base.fields.map((f) => (f.name === name ? { ...f, type } : f)));
}

import { describe, expect, it } from 'vitest';
import type { LogRecord, Outgoing } from '../../../infra/log/eventLog.ts';
import { createRecordCodec } from '../../../infra/log/recordCodec.ts';
import { fromStored, recordKey, toStored } from '../../../infra/log/storedRecord.ts';
import { embeddedRegistry, memorySchemaStore } from '../../../infra/registry/embeddedRegistry.ts';
import { createCodec } from '../../../schemas/codec.ts';
import { type AvroField, loadSchemas, type SchemaSet } from '../../../schemas/loadSchemas.ts';
import { sampleRunEnded } from '../../support/sampleEvents.ts';

/** Programs of two versions over one registry: the newer one knows one more field of RunEnded. */
async function twoVersions() {
  const store = memorySchemaStore();
  const set = loadSchemas();
  const schema = set.events.get('RunEnded');
  if (schema === undefined) throw new Error('no RunEnded');
  const field: AvroField = { name: 'by', type: ['null', 'string'], default: null };
  const newerSet: SchemaSet = {
    ...set,
    events: new Map(set.events).set('RunEnded', { ...schema, fields: [...schema.fields, field] }),
  };
  const open = (schemas: SchemaSet) => {
    const codec = createCodec(schemas);
    const registry = embeddedRegistry(store, { codec });
    return createRecordCodec({ registry, partitions: 4, recordLimit: 1e6, codec });
  };
  return { older: await open(set), newer: await open(newerSet) };
}

const ended: Outgoing = { topic: 'scored-groups', event: sampleRunEnded('run1') };
const written = (
  encoded: Awaited<ReturnType<typeof twoVersions>>['older'],
  outgoing: Outgoing,
): LogRecord => {
  const record = encoded.encode(outgoing);
  return fromStored(record.topic, recordKey(record.partition, 7), toStored(record, 1234));
};

describe('record codec', () => {
  it('lets programs of two versions read each other', async () => {
    const { older, newer } = await twoVersions();
    const old = written(older, ended);
    await newer.prepare([old]);
    expect(newer.decode(old)).toEqual({ ...ended.event, by: null });
    const news = written(newer, { ...ended, event: { ...ended.event, by: 'me' } as never });
    expect(() => older.decode(news)).toThrow(expect.objectContaining({ code: 'E_EVENT_DECODE' }));
    await older.prepare([news]);
    expect(older.decode(news)).toEqual(ended.event);
  });

  it('keeps position, key, time and headers beside the value', async () => {
    const { older } = await twoVersions();
    expect(written(older, ended)).toMatchObject({
      topic: 'scored-groups',
      offset: 7n,
      key: 'run1',
      timestamp: 1234,
      headers: { type: 'RunEnded', run: 'run1' },
    });
  });

  it('sorts keys by partition, then offset', () => {
    const keys = [
      [0, 0],
      [0, 255],
      [0, 256],
      [0, 2 ** 40],
      [1, 0],
      [300, 1],
    ].map(([p, o]) => recordKey(p!, o!));
    expect(keys.toSorted(Buffer.compare)).toEqual(keys);
  });
});

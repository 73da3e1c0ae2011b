import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.ts';
import { frame, unframe } from '../../schemas/framing.ts';
import { EVENT_TYPES, type RunEnded } from '../../schemas/generated/events.ts';
import { loadSchemas, standaloneSchema } from '../../schemas/loadSchemas.ts';
import { schemaId } from '../../schemas/schemaId.ts';
import { eventArbitrary } from '../support/eventArbitrary.ts';

const codec = createCodec();

describe('codec', () => {
  it.each(EVENT_TYPES)('gives %s back as it was', (type) => {
    fc.assert(
      fc.property(eventArbitrary(type), fc.nat(), (event, id) => {
        const { schemaId, body } = unframe(frame(id, codec.encode(event)));
        expect(schemaId).toBe(id);
        expect(codec.decode(type, body)).toStrictEqual(event);
      }),
      { numRuns: 40 },
    );
  });

  it('reads packed arrays at any alignment and keeps no view of the source', () => {
    const event = fc.sample(eventArbitrary('ModelCalled'), { numRuns: 1, seed: 7 })[0];
    if (event?.type !== 'ModelCalled') throw new Error('unreachable');
    const call = { ...event, envTokenIds: Int32Array.of(1, -2, 3), rolloutLogprobs: Float32Array.of(-0.5) };
    const body = codec.encode(call);
    for (const shift of [0, 1, 2, 3]) {
      const memory = new Uint8Array(body.byteLength + 8);
      memory.set(body, shift);
      const decoded = codec.decode('ModelCalled', memory.subarray(shift, shift + body.byteLength));
      memory.fill(255);
      expect(decoded).toStrictEqual(call);
    }
  });

  it('packs token ids as little-endian int32', () => {
    const event = fc.sample(eventArbitrary('ModelCalled'), { numRuns: 1, seed: 7 })[0];
    if (event?.type !== 'ModelCalled') throw new Error('unreachable');
    const body = Buffer.from(codec.encode({ ...event, envTokenIds: Int32Array.of(0x01020304, -1) }));
    expect(body.includes(Buffer.from([4, 3, 2, 1, 255, 255, 255, 255]))).toBe(true);
  });

  it('refuses what does not match the schema, and names the field', () => {
    const event = { type: 'RunEnded', runId: 'r', reason: 3, at: 0 } as unknown as RunEnded;
    expect(() => codec.encode(event)).toThrow(expect.objectContaining({ code: 'E_EVENT_ENCODE' }));
    const unsafe: RunEnded = { type: 'RunEnded', runId: 'r', reason: '', at: 2 ** 60 };
    expect(() => codec.encode(unsafe)).toThrow(expect.objectContaining({ code: 'E_EVENT_ENCODE' }));
  });

  it('refuses damaged bodies', () => {
    const body = codec.encode({ type: 'RunEnded', runId: 'r', reason: 'done', at: 1 });
    for (const bad of [body.subarray(0, 3), Uint8Array.of(...body, 0), new Uint8Array(0)]) {
      expect(() => codec.decode('RunEnded', bad)).toThrow(
        expect.objectContaining({ code: 'E_EVENT_DECODE' }),
      );
    }
    expect(() => unframe(Uint8Array.of(1, 2))).toThrow(expect.objectContaining({ code: 'E_EVENT_DECODE' }));
  });

  it('gives ids that depend on the schema and not on its documentation', () => {
    const set = loadSchemas();
    const ids = EVENT_TYPES.map((type) => schemaId(standaloneSchema(set, type)));
    expect(new Set(ids).size).toBe(EVENT_TYPES.length);
    const schema = standaloneSchema(set, 'RunEnded');
    expect(schemaId({ ...schema, doc: 'other words' })).toBe(schemaId(schema));
    expect(schemaId({ ...schema, fields: schema.fields.slice(1) })).not.toBe(schemaId(schema));
  });
});

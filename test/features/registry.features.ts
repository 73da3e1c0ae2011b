import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Registry } from '../../infra/registry/registry.ts';
import { createCodec } from '../../schemas/codec.ts';
import { EVENT_TYPES } from '../../schemas/generated/events.ts';
import { type AvroField, loadSchemas, type SchemaSet } from '../../schemas/loadSchemas.ts';

/** Opens registries over one storage, each as a program with the given schemas would. */
export interface RegistryFixture {
  open(schemas?: SchemaSet): Promise<Registry>;
  dispose(): Promise<void>;
}

/** What every registry must do, run against each adapter. */
export function testRegistry(name: string, createFixture: () => Promise<RegistryFixture>): void {
  describe(`registry: ${name}`, () => {
    let fixture: RegistryFixture;
    beforeEach(async () => {
      fixture = await createFixture();
    });
    afterEach(() => fixture.dispose());

    it('gives every event an id of its own, and the document under it', async () => {
      const registry = await fixture.open();
      const ids = await Promise.all(EVENT_TYPES.map((type) => registry.idFor(type)));
      expect(new Set(ids).size).toBe(EVENT_TYPES.length);
      expect(ids.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 31)).toBe(true);
      const codec = createCodec();
      for (const [i, type] of EVENT_TYPES.entries()) {
        expect(await registry.schemaFor(ids[i] as number)).toEqual({ type, schema: codec.schemaOf(type) });
      }
    });

    it('gives the same id again, later and elsewhere', async () => {
      const id = await (await fixture.open()).idFor('ModelCalled');
      expect(await (await fixture.open()).idFor('ModelCalled')).toBe(id);
    });

    it('keeps the older version when a schema grows, so both can be read', async () => {
      const older = await (await fixture.open()).idFor('RunEnded');
      const registry = await fixture.open(changed({ name: 'by', type: ['null', 'string'], default: null }));
      const newer = await registry.idFor('RunEnded');
      expect(newer).not.toBe(older);
      expect(await registry.schemaFor(older)).toBeDefined();
      expect(await (await fixture.open()).idFor('RunEnded')).toBe(older);
    });

    it('refuses a schema that cannot be read by, or cannot read, an earlier version', async () => {
      await (await fixture.open()).idFor('RunEnded');
      const registry = await fixture.open(changed({ name: 'by', type: 'string' }));
      await expect(registry.idFor('RunEnded')).rejects.toThrow(
        expect.objectContaining({ code: 'E_SCHEMA_INCOMPATIBLE' }),
      );
    });

    it('knows nothing under an id it never gave', async () => {
      expect(await (await fixture.open()).schemaFor(12345)).toBeUndefined();
    });
  });
}

/** The current schemas with one more field in RunEnded. */
function changed(field: AvroField): SchemaSet {
  const set = loadSchemas();
  const schema = set.events.get('RunEnded');
  if (schema === undefined) throw new Error('no RunEnded');
  return {
    ...set,
    events: new Map(set.events).set('RunEnded', { ...schema, fields: [...schema.fields, field] }),
  };
}

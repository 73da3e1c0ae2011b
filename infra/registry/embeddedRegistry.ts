import { type Codec, createCodec } from '../../schemas/codec.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { EventType } from '../../schemas/generated/events.ts';
import { whyIncompatible } from '../../schemas/isFullyCompatible.ts';
import { schemaId } from '../../schemas/schemaId.ts';
import type { Registry } from './registry.ts';

/** A schema document as registered. */
export interface RegisteredSchema {
  readonly type: EventType;
  readonly schema: object;
}

/** Where an embedded registry keeps its documents; the log's environment, or a map in tests. */
export interface SchemaStore {
  get(id: number): RegisteredSchema | undefined;
  all(): readonly RegisteredSchema[];
  /** Resolves when durable. */
  put(id: number, schema: RegisteredSchema): Promise<void>;
}

/**
 * A registry inside the process. Ids follow from the schema's content, so processes that share a
 * store cannot disagree; a changed schema is registered only when it and every registered version
 * of the event can read each other.
 *
 * @param options.readOnly gives ids without registering anything
 * @param options.codec holds the current schemas
 */
export function embeddedRegistry(
  store: SchemaStore,
  options: { readonly readOnly?: boolean; readonly codec?: Codec } = {},
): Registry {
  const codec = options.codec ?? createCodec();
  return {
    async idFor(type) {
      const schema = codec.schemaOf(type);
      const id = schemaId(schema);
      const stored = store.get(id);
      if (stored !== undefined) {
        if (stored.type === type) return id;
        throw new EspalierError(
          'E_SCHEMA_INCOMPATIBLE',
          `${type} and ${stored.type} share the schema id ${id}`,
        );
      }
      for (const version of store.all()) {
        if (version.type !== type) continue;
        const why = whyIncompatible(version.schema, schema);
        if (why !== null) {
          throw new EspalierError(
            'E_SCHEMA_INCOMPATIBLE',
            `the schema of ${type} does not fit the version registered before: ${why}`,
          );
        }
      }
      if (options.readOnly !== true) await store.put(id, { type, schema });
      return id;
    },
    async schemaFor(id) {
      return store.get(id);
    },
  };
}

/** A store that forgets everything with the process. */
export function memorySchemaStore(): SchemaStore {
  const schemas = new Map<number, RegisteredSchema>();
  return {
    get: (id) => schemas.get(id),
    all: () => [...schemas.values()],
    put: async (id, schema) => void schemas.set(id, schema),
  };
}

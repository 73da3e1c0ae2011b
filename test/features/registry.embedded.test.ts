import { openLmdbStore } from '../../infra/log/lmdbStore.ts';
import { embeddedRegistry, memorySchemaStore } from '../../infra/registry/embeddedRegistry.ts';
import { createCodec } from '../../schemas/codec.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { testRegistry } from './registry.features.ts';

testRegistry('in memory', async () => {
  const store = memorySchemaStore();
  return {
    open: async (schemas) => embeddedRegistry(store, { codec: createCodec(schemas) }),
    dispose: async () => {},
  };
});

testRegistry('in the log', async () => {
  const folder = temporaryFolder();
  const stores = [openLmdbStore(folder.path, false)];
  return {
    async open(schemas) {
      const store = openLmdbStore(folder.path, false);
      stores.push(store);
      return embeddedRegistry(store.schemas, { codec: createCodec(schemas) });
    },
    async dispose() {
      for (const store of stores) await store.close();
      folder.remove();
    },
  };
});

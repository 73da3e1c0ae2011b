import { openChdbWarehouse } from '../../infra/warehouse/openChdbWarehouse.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { testWarehouse } from './warehouse.features.ts';

testWarehouse('chDB', async () => {
  const folder = temporaryFolder();
  return { open: () => openChdbWarehouse(folder.path), dispose: async () => folder.remove() };
});

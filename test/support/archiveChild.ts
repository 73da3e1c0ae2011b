import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import { endWithParent } from '../../infra/process/startChild.ts';
import { openChdbWarehouse } from '../../infra/warehouse/openChdbWarehouse.ts';
import { startArchive } from '../../services/archive/startArchive.ts';

// Child of the kill test: archives until it is killed. Arguments: log folder, warehouse folder.
endWithParent(() => process.exit(0));
const [logDir = '', warehouseDir = ''] = process.argv.slice(2);
const log = await openLmdbLog({ dir: logDir });
const warehouse = await openChdbWarehouse(warehouseDir);
await startArchive({ log, warehouse, lingerMs: 1 });
process.stdout.write('ready\n');

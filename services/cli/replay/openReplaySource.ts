import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkDataFolder, dataFolderPaths } from '../../../infra/process/dataFolder.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import { openLogForReading } from '../events/openLogForReading.ts';
import type { RecordSource } from '../events/readEvents.ts';

/** Where a replay reads from. */
export interface ReplaySource {
  readonly from: 'log' | 'archive';
  readonly records: RecordSource;
  close(): Promise<void>;
}

/**
 * The log of a data folder; where it is gone, its archive.
 * @throws EspalierError E_DATA_DIR_EMPTY where neither is there
 */
export async function openReplaySource(dataDir: string): Promise<ReplaySource> {
  checkDataFolder(dataDir);
  if (existsSync(join(dataDir, 'log', 'data.mdb'))) {
    const log = await openLogForReading(dataDir);
    return { from: 'log', records: log, close: () => log.close() };
  }
  const { warehouse: dir } = dataFolderPaths(dataDir);
  if (!existsSync(dir)) throw new EspalierError('E_DATA_DIR_EMPTY', `${dataDir} holds no runs`);
  const [{ openChdbWarehouse }, { archiveSource }] = await Promise.all([
    import('../../../infra/warehouse/openChdbWarehouse.ts'),
    import('./archiveSource.ts'),
  ]);
  const warehouse = await openChdbWarehouse(dir);
  return { from: 'archive', records: await archiveSource(warehouse), close: () => warehouse.close() };
}

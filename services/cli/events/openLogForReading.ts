import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EventLog } from '../../../infra/log/eventLog.ts';
import { openLmdbLog } from '../../../infra/log/openLmdbLog.ts';
import { checkDataFolder } from '../../../infra/process/dataFolder.ts';
import { EspalierError } from '../../../schemas/errors.ts';

/**
 * Opens the log of a data folder to read it. This works beside a running owner: readers of the
 * embedded log see committed transactions only and hold nobody up.
 * @throws EspalierError E_DATA_DIR_EMPTY where there is no log, E_DATA_DIR_VERSION
 */
export async function openLogForReading(dataDir: string): Promise<EventLog> {
  return await openLmdbLog({ dir: existingLog(dataDir), readOnly: true });
}

/**
 * Opens the log of a data folder to add to it, beside its owner if there is one: appends of all
 * processes are transactions of the same log.
 * @throws EspalierError E_DATA_DIR_EMPTY where there is no log, E_DATA_DIR_VERSION
 */
export async function openLogForAppending(dataDir: string): Promise<EventLog> {
  return await openLmdbLog({ dir: existingLog(dataDir) });
}

function existingLog(dataDir: string): string {
  checkDataFolder(dataDir);
  const dir = join(dataDir, 'log');
  if (!existsSync(join(dir, 'data.mdb')))
    throw new EspalierError('E_DATA_DIR_EMPTY', `${dataDir} holds no runs`);
  return dir;
}

import type { EventLog } from '../../../infra/log/eventLog.ts';
import { openLogForReading } from './openLogForReading.ts';

/**
 * Runs something on the log of a data folder and closes the log whatever happens.
 * @throws EspalierError E_DATA_DIR_EMPTY, and what `body` throws
 */
export async function withLog<T>(dataDir: string, body: (log: EventLog) => Promise<T>): Promise<T> {
  const log = await openLogForReading(dataDir);
  try {
    return await body(log);
  } finally {
    await log.close();
  }
}

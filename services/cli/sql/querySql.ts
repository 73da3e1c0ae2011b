import type { Row } from '../../../infra/warehouse/warehouse.ts';
import { EspalierError } from '../../../schemas/errors.ts';

/** A query on the archive of a data folder. */
export interface SqlQuery {
  readonly dataDir: string;
  readonly sql: string;
  readonly timeoutSeconds: number;
}

/**
 * Runs one reading statement on the archive. Where the data folder has a live owner, the owner runs
 * it; else this process owns the folder for as long as it takes, and first archives what the log
 * has and the archive lacks.
 * @throws EspalierError E_SQL, E_SQL_READ_ONLY, E_CHDB_MISSING, E_DATA_DIR_EMPTY, E_DATA_DIR_VERSION
 */
export async function querySql(query: SqlQuery): Promise<readonly Row[]> {
  const { readingStatement } = await import('../../../infra/warehouse/readingStatement.ts');
  const sql = readingStatement(query.sql);
  const { findOwner } = await import('../../../infra/process/ownerFile.ts');
  const owner = findOwner(query.dataDir);
  if (owner === null) return await queryAsOwner({ ...query, sql });
  const { askOwner } = await import('../../../infra/process/ownerSocket.ts');
  const { timeoutSeconds } = query;
  return (await askOwner(owner.socket, 'sql', { sql, timeoutSeconds })) as readonly Row[];
}

async function queryAsOwner({ dataDir, sql, timeoutSeconds }: SqlQuery): Promise<readonly Row[]> {
  const { openLogForReading } = await import('../events/openLogForReading.ts');
  await (await openLogForReading(dataDir)).close();
  const [{ openDataFolder }, { openChdbWarehouse }, { openLmdbLog }, { startArchive }] = await Promise.all([
    import('../../../infra/process/dataFolder.ts'),
    import('../../../infra/warehouse/openChdbWarehouse.ts'),
    import('../../../infra/log/openLmdbLog.ts'),
    import('../../archive/startArchive.ts'),
  ]);
  const opened: (() => unknown)[] = [];
  try {
    const folder = openDataFolder(dataDir);
    opened.push(() => folder.close());
    const log = await openLmdbLog({ dir: folder.log });
    opened.push(() => log.close());
    const warehouse = await openChdbWarehouse(folder.warehouse);
    opened.push(() => warehouse.close());
    const archive = await startArchive({ log, warehouse, lingerMs: 0 });
    opened.push(() => archive.close());
    await archive.drain();
    return await warehouse.query(sql, { timeoutSeconds });
  } catch (error) {
    if (error instanceof EspalierError && error.code === 'E_DATA_DIR_OWNED') {
      // Somebody became the owner in between: it takes the question.
      const { findOwner } = await import('../../../infra/process/ownerFile.ts');
      const owner = findOwner(dataDir);
      if (owner !== null && owner.pid !== process.pid)
        return await querySql({ dataDir, sql, timeoutSeconds });
    }
    throw error;
  } finally {
    for (const close of opened.reverse()) await close();
  }
}

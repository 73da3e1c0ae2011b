import { EspalierError } from '../../schemas/errors.ts';
import { ensureWritable } from '../process/ensureWritable.ts';
import { clickhouseWarehouse } from './clickhouseWarehouse.ts';
import { migrate } from './migrate.ts';
import type { Warehouse } from './warehouse.ts';

/**
 * The embedded warehouse: ClickHouse's engine inside this process, over the official client. One
 * process may have the folder open, and one folder a process.
 *
 * Two connections: a statement on one waits for the one before it, and an archive must not wait for
 * somebody's query.
 *
 * @throws EspalierError E_CHDB_MISSING, E_DATA_DIR_OWNED, E_DATA_DIR_WRITE
 */
export async function openChdbWarehouse(dir: string): Promise<Warehouse> {
  const { createClient } = await import('@clickhouse/client');
  const { createChdbConnection } = await loadChdb();
  ensureWritable(dir);
  // The two packages each declare a private field of the same class; the shapes are the same.
  const connect = () => createClient({ connection: createChdbConnection({ path: dir }) as never });
  const open: ReturnType<typeof connect>[] = [];
  const close = async () => {
    for (const client of open.splice(0).reverse()) await client.close();
  };
  try {
    const writer = connect();
    open.push(writer);
    const reader = connect();
    open.push(reader);
    let limit: number | undefined;
    const limitTime = async (seconds: number) => {
      if (limit === seconds) return;
      await reader.command({ query: `SET max_execution_time=${Math.max(1, Math.ceil(seconds))}` });
      limit = seconds;
    };
    // These are meant to stay with the connection: 64-bit integers as text, and no writes.
    await reader.command({ query: 'SET output_format_json_quote_64bit_integers=1' });
    await reader.command({ query: 'SET readonly=2' });
    const warehouse = clickhouseWarehouse({ writer, reader, limitTime, close });
    await migrate(warehouse);
    return warehouse;
  } catch (cause) {
    await close().catch(() => {});
    if ((cause as { code?: unknown }).code !== 'CHDB_CONNECTION') throw cause;
    throw new EspalierError(
      'E_DATA_DIR_OWNED',
      `the archive ${dir} cannot be opened: another process has it open`,
      {
        cause,
      },
    );
  }
}

async function loadChdb(): Promise<typeof import('chdb/connection')> {
  try {
    return await import('chdb/connection');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
    throw new EspalierError(
      'E_CHDB_MISSING',
      `the SQL archive needs chdb, which cannot be loaded here: ${why}`,
      {
        cause,
      },
    );
  }
}

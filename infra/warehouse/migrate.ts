import { readdirSync, readFileSync } from 'node:fs';
import type { Warehouse } from './warehouse.ts';

const FOLDER = new URL('../clickhouse/', import.meta.url);

/**
 * Brings the tables and views of a warehouse to the newest version: `infra/clickhouse/NNNN_name.sql`
 * in order, each once. A file whose application was cut short is applied again from its beginning,
 * so its statements say IF NOT EXISTS or OR REPLACE.
 */
export async function migrate(warehouse: Warehouse): Promise<void> {
  await warehouse.command(
    `CREATE TABLE IF NOT EXISTS migrations (version UInt32, name String, applied_at DateTime DEFAULT now())
     ENGINE = MergeTree ORDER BY version`,
  );
  const [row] = await warehouse.query('SELECT toUInt32(max(version)) AS version FROM migrations');
  const applied = Number(row?.version ?? 0);
  for (const file of readdirSync(FOLDER).sort()) {
    const version = Number.parseInt(file, 10);
    if (!file.endsWith('.sql') || version <= applied) continue;
    for (const statement of statementsOf(readFileSync(new URL(file, FOLDER), 'utf8'))) {
      await warehouse.command(statement);
    }
    await warehouse.insert('migrations', [{ version, name: file }], `migration:${version}`);
  }
}

/** Statements end with a semicolon at the end of a line. */
function statementsOf(text: string): string[] {
  return text
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

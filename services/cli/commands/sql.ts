import type { Command } from '../command.ts';
import { integerOption } from '../optionValues.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;

/** `sql "SELECT ..."`: a read-only query on the archive. */
export const command: Command = {
  name: 'sql',
  summary: 'a read-only query on the archive',
  usage: 'sql "SELECT ..." [--timeout SECONDS]',
  details:
    'A table on a terminal, tab-separated lines elsewhere, {"rows":[...]} with --json (64-bit integers as texts). docs/sql.md lists tables and views. Works beside a running owner of the data folder.',
  options: {
    timeout: {
      type: 'string',
      placeholder: 'SECONDS',
      summary: `longest run time (default ${DEFAULT_TIMEOUT_SECONDS})`,
    },
  },
  positionals: { min: 1, max: 1 },
  async run({ positionals, values, dataDir, json, stdout, tableColumns, emit, out }) {
    const timeoutSeconds = integerOption(values, 'timeout', 1) ?? DEFAULT_TIMEOUT_SECONDS;
    const [{ querySql }, { formatRows, tabSeparated }] = await Promise.all([
      import('../sql/querySql.ts'),
      import('../sql/formatRows.ts'),
    ]);
    const rows = await querySql({ dataDir, sql: positionals[0] ?? '', timeoutSeconds });
    emit({ rows });
    if (json) return 0;
    const terminal = (stdout as { isTTY?: boolean }).isTTY === true;
    out(terminal ? formatRows(rows, tableColumns) : tabSeparated(rows));
    return 0;
  },
};

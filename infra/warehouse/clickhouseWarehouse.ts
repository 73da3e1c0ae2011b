import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { EspalierError } from '../../schemas/errors.ts';
import { readingStatement } from './readingStatement.ts';
import type { Row, Warehouse } from './warehouse.ts';

/** What differs between chDB and a server. */
export interface WarehouseBackend {
  /** For DDL and inserts. */
  readonly writer: ClickHouseClient;
  /** Refuses writes; a slow query on it must not hold up the writer. */
  readonly reader: ClickHouseClient;
  /** Bounds the next query of the reader. */
  limitTime(seconds: number): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_SECONDS = 60;

/**
 * Settings of an insert stand in its SQL. Given to the client they would stay with an embedded
 * connection: every later insert would carry this one's token and be dropped as its repetition.
 * Parsing in one go and squashing keep the rows of an insert in one block, which is what a token names.
 */
const ONE_BLOCK =
  'async_insert=0, input_format_parallel_parsing=0, max_insert_block_size=10000000, ' +
  'min_insert_block_size_rows=10000000, min_insert_block_size_bytes=4000000000';

/** The one SQL path, over whichever backend. */
export function clickhouseWarehouse(backend: WarehouseBackend): Warehouse {
  // The time limit belongs to the reader's connection, so queries take turns.
  let turn: Promise<unknown> = Promise.resolve();
  return {
    async command(sql) {
      await boundary(() => backend.writer.command({ query: sql }));
    },

    async insert(table, rows, token) {
      if (rows.length === 0) return;
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].map(quoteName).join(', ');
      const query =
        `INSERT INTO ${quoteName(table)} (${columns}) ` +
        `SETTINGS insert_deduplication_token=${quoteText(token)}, ${ONE_BLOCK} FORMAT JSONEachRow`;
      // A blank line would end the data early: every line is one JSON object.
      const values = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      await boundary(async () => {
        const { stream } = await backend.writer.exec({ query, values: Readable.from([values]) });
        for await (const _ of stream);
      });
    },

    query(sql, options = {}) {
      const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, params } = options;
      const run = async () => {
        const statement = readingStatement(sql);
        return boundary(async () => {
          await backend.limitTime(timeoutSeconds);
          const result = await backend.reader.query({
            // A comment at the end must not swallow the format.
            query: `${statement}\n`,
            format: 'JSONEachRow',
            ...(params === undefined ? {} : { query_params: { ...params } }),
          });
          return result.json<Row>();
        });
      };
      const mine = turn.then(run, run);
      turn = mine.catch(() => {});
      return mine;
    },

    close: () => backend.close(),
  };
}

async function boundary<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (cause instanceof EspalierError) throw cause;
    const { message = String(cause), type } = cause as { message?: string; type?: string };
    const code = type === 'READONLY' ? 'E_SQL_READ_ONLY' : 'E_SQL';
    throw new EspalierError(code, message.replace(/\s+/g, ' ').trim(), { cause });
  }
}

function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

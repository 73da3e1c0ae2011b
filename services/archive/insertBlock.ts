import type { EventLog, LogRecord } from '../../infra/log/eventLog.ts';
import type { Row, Warehouse } from '../../infra/warehouse/warehouse.ts';
import { EspalierError } from '../../schemas/errors.ts';
import { rowsOf } from './rowsOf.ts';

/**
 * Inserts a block of records of one partition: its raw rows, then each typed table's, every insert
 * under a token made of table and range. The same range inserted again adds nothing.
 *
 * @param records all records of [first, end), in order
 * @returns how many of them could not be decoded; those have a raw row only
 */
export async function insertBlock(
  log: EventLog,
  warehouse: Warehouse,
  records: readonly LogRecord[],
): Promise<number> {
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const range = `${first.topic}:${first.partition}:${first.offset}-${last.offset + 1n}`;
  const tables = new Map<string, Row[]>([['event_log', records.map(rawRow)]]);
  let undecodable = 0;
  for (const record of records) {
    const event = decoded(log, record);
    if (event === null) {
      undecodable++;
      continue;
    }
    for (const { table, row } of rowsOf(record.topic, record.offset, event)) {
      const rows = tables.get(table);
      if (rows === undefined) tables.set(table, [row]);
      else rows.push(row);
    }
  }
  for (const [table, rows] of tables) await warehouse.insert(table, rows, `${table}:${range}`);
  return undecodable;
}

function rawRow(record: LogRecord): Row {
  return {
    topic: record.topic,
    partition: record.partition,
    offset: String(record.offset),
    key: record.key,
    type: record.headers.type ?? '',
    time: record.timestamp,
    headers: record.headers,
    value_b64: Buffer.from(record.value.buffer, record.value.byteOffset, record.value.byteLength).toString(
      'base64',
    ),
  };
}

function decoded(log: EventLog, record: LogRecord) {
  try {
    return log.decode(record);
  } catch (cause) {
    if (cause instanceof EspalierError && cause.code === 'E_EVENT_DECODE') return null;
    throw cause;
  }
}

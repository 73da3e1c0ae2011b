import type { Row } from '../../../infra/warehouse/warehouse.ts';
import { formatTable } from '../text/formatTable.ts';

/** Rows as a table for people. */
export function formatRows(rows: readonly Row[], columns: number): string {
  if (rows.length === 0) return 'no rows';
  const header = headerOf(rows);
  return formatTable(
    header,
    rows.map((row) => header.map((name) => cell(row[name]).replace(/\s+/g, ' '))),
    columns,
  );
}

/** Rows as tab-separated lines under a header, for programs; tabs and line breaks are escaped. */
export function tabSeparated(rows: readonly Row[]): string {
  const header = headerOf(rows);
  const escaped = (text: string): string =>
    text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
  return [header, ...rows.map((row) => header.map((name) => cell(row[name])))]
    .map((cells) => cells.map(escaped).join('\t'))
    .join('\n');
}

const headerOf = (rows: readonly Row[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];

function cell(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

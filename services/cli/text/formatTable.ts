/**
 * Rows under a header, columns padded to their widest cell. Numbers stand to the right.
 * The last column is cut so that a line fits into `columns` characters; 0 means no limit.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns = 0,
): string {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => (row[i] ?? '').length)));
  const right = header.map((_, i) => rows.length > 0 && rows.every((row) => isNumeric(row[i] ?? '')));
  const line = (cells: readonly string[]): string => {
    const text = cells
      .map((cell, i) => (right[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
    return columns > 0 && text.length > columns ? `${text.slice(0, columns - 1)}…` : text;
  };
  return [line(header), line(widths.map((w) => '-'.repeat(w))), ...rows.map(line)].join('\n');
}

const isNumeric = (text: string): boolean => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);

/** One point of the curve. */
export interface CurvePoint {
  readonly step: number;
  /** From 0 to 1. */
  readonly value: number;
}

const ROWS = 10;

/**
 * A curve for the terminal: values from 0 to 1 upwards, steps to the right.
 * @param width columns available, axis included
 */
export function drawCurve(points: readonly CurvePoint[], width: number): string {
  if (points.length === 0) return '';
  const columns = Math.max(8, Math.min(width - 6, 72));
  const last = points.at(-1)!.step;
  const first = points[0]!.step;
  const grid = Array.from({ length: ROWS + 1 }, () => new Array<string>(columns).fill(' '));
  let before: number | undefined;
  for (let column = 0; column < columns; column++) {
    const step = first + ((last - first) * column) / Math.max(1, columns - 1);
    const row = Math.round(valueAt(points, step) * ROWS);
    const lowest = Math.min(row, before ?? row);
    const highest = Math.max(row, before ?? row);
    for (let r = lowest; r <= highest; r++) grid[r]![column] = r === row ? '●' : '│';
    before = row;
  }
  const lines = grid
    .map((cells, row) => `${row % 5 === 0 ? (row / ROWS).toFixed(1) : '   '} ┤${cells.join('').trimEnd()}`)
    .reverse();
  const axis = `    └${'─'.repeat(columns)}`;
  const labels = `     ${String(first)}${'step'.padStart(Math.floor(columns / 2))}${String(last).padStart(columns - Math.floor(columns / 2) - String(first).length)}`;
  return [...lines, axis, labels].join('\n');
}

function valueAt(points: readonly CurvePoint[], step: number): number {
  let before = points[0]!;
  for (const point of points) {
    if (point.step >= step) {
      const span = point.step - before.step;
      return span === 0
        ? point.value
        : before.value + ((point.value - before.value) * (step - before.step)) / span;
    }
    before = point;
  }
  return before.value;
}

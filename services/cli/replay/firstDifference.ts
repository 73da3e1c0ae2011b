/**
 * Where two JSON values first differ, in words: `nodes[3].tokenIds[7]: 5 on record, 6 replayed`.
 * Undefined where they are equal.
 */
export function firstDifference(recorded: unknown, replayed: unknown, path = ''): string | undefined {
  if (Object.is(recorded, replayed)) return undefined;
  if (!isObject(recorded) || !isObject(replayed) || Array.isArray(recorded) !== Array.isArray(replayed)) {
    return `${path === '' ? 'value' : path}: ${brief(recorded)} on record, ${brief(replayed)} replayed`;
  }
  const keys = new Set([...Object.keys(recorded), ...Object.keys(replayed)]);
  for (const key of keys) {
    const step = Array.isArray(recorded) ? `[${key}]` : `${path === '' ? '' : '.'}${key}`;
    const found = firstDifference(
      (recorded as Record<string, unknown>)[key],
      (replayed as Record<string, unknown>)[key],
      path + step,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

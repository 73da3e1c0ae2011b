import { type ErrorCode, EspalierError } from '../../../schemas/errors.ts';

/**
 * The id that a text names: itself, or the only one that begins with it.
 * @throws EspalierError with the given code when none does, or more than one
 */
export function findId(what: 'run' | 'rollout', text: string, ids: Iterable<string>): string {
  const code: ErrorCode = what === 'run' ? 'E_RUN_UNKNOWN' : 'E_ROLLOUT_UNKNOWN';
  const found: string[] = [];
  for (const id of ids) {
    if (id === text) return id;
    if (text !== '' && id.startsWith(text)) found.push(id);
  }
  if (found.length === 1) return found[0] as string;
  if (found.length === 0) throw new EspalierError(code, `there is no ${what} "${text}"`);
  throw new EspalierError(code, `"${text}" names ${found.length} ${what}s: ${found.slice(0, 4).join(', ')}`, {
    fix: 'Give more letters of the id.',
  });
}

import { EspalierError } from '../../schemas/errors.ts';
import { didYouMean } from './nearest.ts';

/**
 * The first positional argument of a command that has several actions.
 * @throws EspalierError E_USAGE that names the actions
 */
export function subcommand<const A extends string>(
  command: string,
  positionals: readonly string[],
  actions: readonly A[],
): A {
  const [given] = positionals;
  const found = actions.find((action) => action === given);
  if (found !== undefined) return found;
  const what = given === undefined ? `${command} needs an action` : `there is no "${command} ${given}"`;
  throw new EspalierError('E_USAGE', `${what}${given === undefined ? '' : didYouMean(given, actions)}`, {
    fix: `Use one of: ${actions.map((a) => `espalier ${command} ${a}`).join(', ')}.`,
  });
}

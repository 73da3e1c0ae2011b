import { EspalierError } from '../../schemas/errors.ts';
import type { CommandContext } from './command.ts';

type Values = CommandContext['values'];

/** The text of a string option, or undefined where it was not given. */
export function textOption(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a boolean option was given. */
export function flagOption(values: Values, name: string): boolean {
  return values[name] === true;
}

/**
 * The text of an option that must be given.
 * @throws EspalierError E_USAGE
 */
export function requiredOption(values: Values, name: string): string {
  const value = textOption(values, name);
  if (value === undefined || value === '') throw new EspalierError('E_USAGE', `--${name} is needed`);
  return value;
}

/**
 * A whole number of at least `min`, or undefined where the option was not given.
 * @throws EspalierError E_USAGE
 */
export function integerOption(values: Values, name: string, min = 0): number | undefined {
  const text = textOption(values, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= min) return value;
  throw new EspalierError('E_USAGE', `--${name} must be a whole number of at least ${min}, not "${text}"`);
}

import { parseArgs } from 'node:util';
import { EspalierError } from '../../schemas/errors.ts';
import type { Command, CommandOptions, OptionValue } from './command.ts';
import { GLOBAL_OPTIONS } from './globalOptions.ts';
import { didYouMean } from './nearest.ts';

/** The arguments of one command, taken apart. */
export interface ReadArguments {
  readonly values: Readonly<Record<string, OptionValue>>;
  readonly positionals: readonly string[];
}

/**
 * Takes the arguments of a command apart by its option table.
 * @throws EspalierError E_USAGE that names the option at fault and the nearest one that exists
 */
export function readArguments(command: Command, args: readonly string[]): ReadArguments {
  const options: CommandOptions = { ...command.options, ...GLOBAL_OPTIONS };
  const usage = `Usage: espalier ${command.usage}`;
  const { tokens } = parseArgs({
    args: [...args],
    options: parserOptions(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, OptionValue> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = options[token.name];
    if (option === undefined) {
      const near = didYouMean(token.name, Object.keys(options));
      throw new EspalierError('E_USAGE', `there is no option ${token.rawName}${near}`, { fix: usage });
    }
    if (option.type === 'string' && token.value === undefined) {
      throw new EspalierError('E_USAGE', `${token.rawName} needs a value`, { fix: usage });
    }
    if (option.type === 'boolean' && token.value !== undefined) {
      throw new EspalierError('E_USAGE', `${token.rawName} takes no value`, { fix: usage });
    }
    const value = token.value ?? true;
    const before = values[token.name];
    values[token.name] = option.multiple ? [...(Array.isArray(before) ? before : []), value] : value;
  }
  if (values.help !== true) checkPositionals(command, positionals, usage);
  return { values, positionals };
}

function checkPositionals(command: Command, positionals: readonly string[], usage: string): void {
  const { min, max } = command.positionals ?? { min: 0, max: 0 };
  if (positionals.length < min) {
    throw new EspalierError('E_USAGE', `${command.name} needs more than that`, { fix: usage });
  }
  if (positionals.length > max) {
    throw new EspalierError('E_USAGE', `"${positionals[max]}" is one argument too many`, { fix: usage });
  }
}

type ParserOptions = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

function parserOptions(options: CommandOptions): ParserOptions {
  return Object.fromEntries(
    Object.entries(options).map(([name, o]) => [
      name,
      {
        type: o.type,
        ...(o.short === undefined ? {} : { short: o.short }),
        ...(o.multiple === undefined ? {} : { multiple: o.multiple }),
      },
    ]),
  );
}

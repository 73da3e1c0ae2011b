import { dieWithParent } from '../../infra/process/dieWithParent.ts';
import type { CommandOption, OptionValue } from './command.ts';

/** For programs that run as children of `demo`, `train` and the like; a person has no use for it. */
export const END_WITH_PARENT = {
  'end-with-parent': {
    type: 'boolean',
    summary: 'ends when its standard input does',
    hidden: true,
  },
} as const satisfies Readonly<Record<string, CommandOption>>;

/**
 * Ends this process at once when it was started with `--end-with-parent` and its parent is gone: whoever
 * takes over starts children of its own, and what this one has not made durable nobody relies on.
 */
export function heedParent(values: Readonly<Record<string, OptionValue>>): void {
  if (values['end-with-parent'] === true) dieWithParent();
}

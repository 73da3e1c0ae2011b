import type { Command } from '../command.ts';
import { subcommand } from '../subcommand.ts';

/** `topics apply`: creates topics where the log is a broker; the embedded log needs nothing. */
export const command: Command = {
  name: 'topics',
  summary: 'create what the event log needs',
  usage: 'topics apply',
  options: {},
  positionals: { min: 0, max: 1 },
  async run({ positionals, emit, out }) {
    subcommand('topics', positionals, ['apply']);
    const { TOPIC_NAMES } = await import('../../../schemas/topics.ts');
    emit({ log: 'embedded', created: [], topics: TOPIC_NAMES });
    out(`nothing to do: the embedded log makes its ${TOPIC_NAMES.length} topics by itself`);
    return 0;
  },
};

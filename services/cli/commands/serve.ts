import { EspalierError } from '../../../schemas/errors.ts';
import type { Command } from '../command.ts';
import { requiredOption } from '../optionValues.ts';
import { END_WITH_PARENT, heedParent } from '../parentGone.ts';
import { subcommand } from '../subcommand.ts';

/** One service as a process of its own. Embedded, only the trainer is one: it computes. */
export const command: Command = {
  name: 'serve',
  summary: 'run one service as a process of its own',
  usage: 'serve trainer --run RUN [--engine URL]...',
  details:
    'The trainer reads the batches of a run from the data folder, trains the tiny policy and publishes each version; it ends with the run. It is started by `demo` and `train`.',
  options: {
    run: { type: 'string', placeholder: 'RUN', summary: 'the run to train' },
    engine: {
      type: 'string',
      multiple: true,
      placeholder: 'URL',
      summary: 'an engine that gets each version',
    },
    ...END_WITH_PARENT,
  },
  positionals: { min: 1, max: 1 },
  async run({ positionals, values, dataDir, signal }) {
    subcommand('serve', positionals, ['trainer']);
    heedParent(values);
    const runId = requiredOption(values, 'run');
    const engines = (values.engine ?? []) as readonly string[];
    if (engines.some((url) => !URL.canParse(url)))
      throw new EspalierError('E_USAGE', '--engine must be a URL');
    const { runTrainer } = await import('../../trainer/runTrainer.ts');
    await runTrainer({ dataDir, runId, engines, signal });
    return 0;
  },
};

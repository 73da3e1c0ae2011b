import { EspalierError } from '../../../schemas/errors.ts';
import type { Command } from '../command.ts';
import { configOptions } from '../config/configOptions.ts';

/** A training run against tasks, harnesses and engines of one's own. */
export const command: Command = {
  name: 'train',
  summary: 'a training run against the engines and tasks of a run file',
  usage: 'train RUN.yaml [--steps N] [--engine URL]',
  details:
    'Keeps rollouts in flight, at most maxOffPolicySteps ahead of the trainer, until the last step is trained. With engines of your own the trainer is yours too: it reads training-batches and publishes PolicyPublished, the first one before any batch. Without engines the tiny policy is trained. Interrupted, the same command goes on where it was.',
  options: configOptions(),
  positionals: { min: 0, max: 1 },
  async run(context) {
    const [{ resolveRunConfig }, { openStore }, { trainToEnd }, { storeTasks }] = await Promise.all([
      import('../config/resolveRunConfig.ts'),
      import('../../embedded.ts'),
      import('../run/trainToEnd.ts'),
      import('../run/storeTasks.ts'),
    ]);
    const [file] = context.positionals;
    const values = file === undefined ? context.values : { ...context.values, config: file };
    const { config } = await resolveRunConfig({ values, env: context.env });
    if (config.tasks.length === 0) {
      throw new EspalierError('E_CONFIG', 'the run has no tasks', {
        fix: 'Name task folders under `tasks:` in the run file, or with --tasks.',
      });
    }
    const store = await openStore(context.dataDir);
    try {
      const tasks = {
        train: await storeTasks(store.blobs, config.tasks),
        heldOut: await storeTasks(store.blobs, config.heldOutTasks),
      };
      await trainToEnd(context, store, { name: 'train', config, tasks });
      return 0;
    } finally {
      await store.close();
    }
  },
};

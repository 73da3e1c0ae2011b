import type { RunConfig } from '../../../schemas/runConfig.ts';
import type { Command } from '../command.ts';
import { configOptions } from '../config/configOptions.ts';

/** What the demo runs with where neither flag nor environment nor file says otherwise. */
const DEFAULTS: Partial<RunConfig> = { harnesses: ['alder', 'birch'] };

/** The whole loop on this machine, with nothing installed: the newcomer's command. */
export const command: Command = {
  name: 'demo',
  summary: 'the whole loop on this machine: a small policy learns through two agent harnesses',
  usage: 'demo [--steps N] [--algorithm grpo|ppo] [--harness a,b] [--seed N]',
  details:
    'Runs rollouts of small file tasks in sandboxes, captures every model call, grows and judges the trees, verifies the workspaces, cuts training batches and trains a tiny policy on them. Ends with Pass@1 on held-out tasks before and after. Interrupted, the same command goes on where it was.',
  options: configOptions(),
  async run(context) {
    const [{ resolveRunConfig }, { openStore }, { trainToEnd }, { storeDemoTasks }] = await Promise.all([
      import('../config/resolveRunConfig.ts'),
      import('../../embedded.ts'),
      import('../run/trainToEnd.ts'),
      import('../demo/storeDemoTasks.ts'),
    ]);
    const { config } = await resolveRunConfig({
      values: context.values,
      env: context.env,
      defaults: DEFAULTS,
    });
    const store = await openStore(context.dataDir);
    try {
      const tasks = await storeDemoTasks(context.dataDir, store.blobs, config);
      await trainToEnd(context, store, { name: 'demo', config, tasks });
      return 0;
    } finally {
      await store.close();
    }
  },
};

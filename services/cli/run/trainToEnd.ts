import type { RunConfig } from '../../../schemas/runConfig.ts';
import { decide } from '../../dispatcher/decide.ts';
import type { TaskSet } from '../../dispatcher/runPlan.ts';
import type { Store } from '../../embedded.ts';
import type { CommandContext } from '../command.ts';
import { showProgress } from '../demo/showProgress.ts';
import { carryOut } from './carryOut.ts';
import { openRun } from './openRun.ts';
import { reportRun } from './reportRun.ts';
import { startArchiving } from './startArchiving.ts';

/**
 * A training run from its configuration to its report, in a folder that this process owns: begins it or
 * goes on with it, shows how it gets on, archives it, and sums it up.
 * @param name first part of the run's id: runs of another name are not gone on with
 */
export async function trainToEnd(
  context: CommandContext,
  store: Store,
  run: { readonly name: string; readonly config: RunConfig; readonly tasks: TaskSet },
): Promise<void> {
  const { name, config, tasks } = run;
  const { runId, resumed } = await openRun(store.log, name, config, Date.now());
  context.out(`${resumed ? 'Going on with' : 'Starting'} run ${runId} in ${context.dataDir}`);
  const archiving = await startArchiving(store, context.log);
  const progress = showProgress(context, store.log, runId, config);
  try {
    await carryOut({
      store,
      runId,
      config,
      decide: (state, now) => decide({ runId, config, tasks }, state, now),
      // The built-in trainer trains the tiny policy; a policy behind engines of one's own has its own trainer.
      trainer: config.engines.length === 0,
      logger: context.log,
      signal: context.signal,
    });
    await archiving.drain();
  } finally {
    await progress.close();
    await archiving.close();
  }
  await reportRun(context, store.log, runId, config);
}

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import { decide } from '../../dispatcher/decide.ts';
import type { TaskSet } from '../../dispatcher/runPlan.ts';
import type { Store } from '../../embedded.ts';
import type { CommandContext } from '../command.ts';
import { showProgress } from '../demo/showProgress.ts';
import { carryOut } from './carryOut.ts';
import { checkHarnesses } from './checkHarnesses.ts';
import { crashAt } from './crashAt.ts';
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
  checkHarnesses(config.harnesses, store.folder.harnesses);
  const report = (id: string) => join(store.folder.reports, `${id}.json`);
  const { runId, resumed } = await openRun(store.log, name, config, Date.now(), (id) =>
    existsSync(report(id)),
  );
  context.out(`${resumed ? 'Going on with' : 'Starting'} run ${runId} in ${context.dataDir}`);
  const crashPoint = crashAt(context.env.ESPALIER_CRASH_AT);
  const archiving = await startArchiving(store, context.log, crashPoint);
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
      crashPoint,
    });
    await archiving.drain();
  } finally {
    await progress.close();
    await archiving.close();
  }
  const document = await reportRun(context, store.log, runId, config);
  // Last of all: a run that ended and could not say so any more says so at the next try.
  mkdirSync(store.folder.reports, { recursive: true });
  writeFileSync(report(runId), `${JSON.stringify(document)}\n`, { flush: true });
}

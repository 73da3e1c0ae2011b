import { setTimeout as delay } from 'node:timers/promises';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import type { Store } from '../../embedded.ts';
import type { Command, CommandContext } from '../command.ts';

const LOOK_AGAIN_MS = 2000;

/** All services in one process, for the runs of a data folder. */
export const command: Command = {
  name: 'up',
  summary: 'all services in one process',
  usage: 'up',
  details:
    'Owns the data folder: archives, answers `espalier sql` of other terminals, and goes on with every run of the folder that has not ended, one after the other. Ends when it is interrupted; nothing is lost then.',
  options: {},
  async run(context) {
    const [{ openStore }, { startArchiving }] = await Promise.all([
      import('../../embedded.ts'),
      import('../run/startArchiving.ts'),
    ]);
    const store = await openStore(context.dataDir);
    try {
      const archiving = await startArchiving(store, context.log);
      await archiving.drain();
      context.out(`Up on ${context.dataDir}; interrupt to stop`);
      try {
        await serveRuns(context, store);
      } finally {
        await archiving.close();
      }
      return 0;
    } finally {
      await store.close();
    }
  },
};

/** A run of `demo` or `train` that has not ended; `rollout run` is nobody else's to go on with. */
function isOpenTraining(run: { readonly runId: string; readonly endedAt: number | null }): boolean {
  return run.endedAt === null && /^(demo|train)-/.test(run.runId);
}

async function serveRuns(context: CommandContext, store: Store): Promise<void> {
  const { runSummaries } = await import('../runs/runSummary.ts');
  while (!context.signal.aborted) {
    const open = (await runSummaries(store.log)).find(isOpenTraining);
    if (open === undefined) await delay(LOOK_AGAIN_MS, undefined, { signal: context.signal }).catch(() => {});
    else await goOn(context, store, open.runId, open.config as RunConfig);
  }
}

async function goOn(context: CommandContext, store: Store, runId: string, config: RunConfig): Promise<void> {
  const [{ carryOut }, { decide }, { storeTasks }, { storeDemoTasks }] = await Promise.all([
    import('../run/carryOut.ts'),
    import('../../dispatcher/decide.ts'),
    import('../run/storeTasks.ts'),
    import('../demo/storeDemoTasks.ts'),
  ]);
  const tasks =
    config.tasks.length === 0
      ? await storeDemoTasks(context.dataDir, store.blobs, config)
      : {
          train: await storeTasks(store.blobs, config.tasks),
          heldOut: await storeTasks(store.blobs, config.heldOutTasks),
        };
  context.out(`Going on with run ${runId}`);
  await carryOut({
    store,
    runId,
    config,
    decide: (state, now) => decide({ runId, config, tasks }, state, now),
    trainer: config.engines.length === 0,
    logger: context.log,
    signal: context.signal,
  });
  context.out(`Run ${runId} ended`);
}

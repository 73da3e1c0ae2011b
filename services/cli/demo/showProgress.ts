import type { EventLog } from '../../../infra/log/eventLog.ts';
import { follow } from '../../../infra/log/follow.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import type { CommandContext } from '../command.ts';
import { collectRewards } from './demoProgress.ts';

/** Prints a line for each thing that happened to the run: evaluations, steps, dropped groups. */
export function showProgress(
  context: CommandContext,
  log: EventLog,
  runId: string,
  config: RunConfig,
): { close(): Promise<void> } {
  const stop = new AbortController();
  const rewards = collectRewards();
  const dropped = new Map<string, string>();
  let settled = 0;
  let announced = -2;
  let published = -2;
  const say = (text: string) => context.out(text);
  const loop = follow({
    log,
    topics: ['rollout-requests', 'rollouts', 'rewards', 'scored-groups'],
    signal: stop.signal,
    onEvents: (events) => {
      for (const event of events) {
        if (!('runId' in event) || event.runId !== runId) continue;
        rewards.fold(event);
        if (event.type === 'RolloutSettled') settled++;
        if (event.type === 'GroupDropped' && event.reason !== 'evaluation')
          dropped.set(event.groupId, event.reason);
        if (event.type === 'PolicyPublished')
          published = Math.max(published, event.trainedThroughBatch ?? -1);
      }
    },
    onCaughtUp: () => {
      if (published === announced) return;
      announced = published;
      if (published < 0) say(`  policy 0 is ready; first, ${config.evaluationTasks} held-out tasks`);
      else {
        const now = rewards.training().at(-1);
        const share = now === undefined ? '' : `   passing ${now.value.toFixed(2)}`;
        say(
          `  step ${String(published + 1).padStart(2)} of ${config.steps}   rollouts ${settled}   groups dropped ${dropped.size}${share}`,
        );
      }
    },
  });
  return {
    async close() {
      stop.abort();
      await loop;
    },
  };
}

import type { EventLog } from '../../../infra/log/eventLog.ts';
import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import { TOPIC_NAMES } from '../../../schemas/topics.ts';
import type { CommandContext } from '../command.ts';
import { accountForCalls } from '../demo/accountForCalls.ts';
import { collectRewards } from '../demo/demoProgress.ts';
import { drawCurve } from '../demo/drawCurve.ts';
import { readEvents } from '../events/readEvents.ts';

/**
 * Sums a finished run up: the curve, held-out Pass@1 before and after, and what became of every call. With
 * `--json` the same as one document.
 * @returns the document
 */
export async function reportRun(
  context: CommandContext,
  log: EventLog,
  runId: string,
  config: RunConfig,
): Promise<object> {
  const rewards = collectRewards();
  const events: EspalierEvent[] = [];
  for await (const { event } of readEvents(log, { topics: TOPIC_NAMES, runId })) {
    rewards.fold(event);
    events.push(event);
  }
  const account = accountForCalls(events);
  const passAt1 = { before: rewards.passAt1(0), after: rewards.passAt1(config.steps) };
  const document = { runId, passAt1, steps: config.steps, ...account };
  context.emit(document);

  const dropped = Object.entries(account.dropped).sort(([, a], [, b]) => b - a);
  context.out('');
  context.out(drawCurve(rewards.training(), context.columns));
  context.out('     share of training rollouts that passed, by step\n');
  context.out(
    `Held-out Pass@1   before ${passAt1.before.toFixed(2)}   after ${passAt1.after.toFixed(2)}   (${config.evaluationTasks} tasks, ${config.harnesses.join(' + ')})`,
  );
  context.out(`Rollouts ${account.rollouts}   model calls ${account.calls}   batches ${account.batches}`);
  context.out(`Tokens sampled ${account.tokens.sampled}   trained ${account.tokens.trained}`);
  context.out(
    `Calls kept ${account.kept}, dropped ${dropped.map(([reason, n]) => `${reason} ${n}`).join(', ') || 'none'}`,
  );
  const example = exampleRollout(events);
  context.out('\nWhat to run next:');
  if (example !== undefined)
    context.out(`  npx espalier show ${example}        the tree of one rollout, token for token`);
  context.out(`  npx espalier replay --run ${runId} --verify`);
  context.out(`  npx espalier sql "SELECT * FROM pass_at_1"`);
  return document;
}

/** A rollout worth looking at: the one whose calls met the most different fates. */
function exampleRollout(events: readonly EspalierEvent[]): string | undefined {
  let best: { rolloutId: string; kinds: number } | undefined;
  for (const event of events) {
    if (event.type !== 'TreeJudged') continue;
    const kinds = new Set(event.verdicts.map((v) => `${v.kind}/${v.reason}`)).size;
    if (best === undefined || kinds > best.kinds) best = { rolloutId: event.rolloutId, kinds };
  }
  return best?.rolloutId;
}

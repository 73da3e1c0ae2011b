import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import { groupIdOf } from '../../../schemas/ids.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import { TOPIC_NAMES } from '../../../schemas/topics.ts';
import type { Command, CommandContext } from '../command.ts';
import { configOptions } from '../config/configOptions.ts';
import { integerOption, requiredOption } from '../optionValues.ts';
import { subcommand } from '../subcommand.ts';

/** `rollout run`: rollouts of one task through one harness, now, without training. */
export const command: Command = {
  name: 'rollout',
  summary: 'run rollouts of one task now and print verdicts and rewards',
  usage: 'rollout run --task DIR --harness NAME [--count N] [--engine URL] [--sandbox process]',
  details:
    'Runs the harness on the task in a sandbox, N times as one group, captures every model call, verifies the workspaces and cuts a batch of what can be trained. Without an engine the tiny policy answers; `espalier engine scripted` serves canned replies.',
  options: {
    ...configOptions(),
    count: { type: 'string', placeholder: 'N', summary: 'rollouts to run (default 1)' },
  },
  positionals: { min: 1, max: 1 },
  async run(context) {
    subcommand('rollout', context.positionals, ['run']);
    requiredOption(context.values, 'task');
    requiredOption(context.values, 'harness');
    const count = integerOption(context.values, 'count', 1) ?? 1;
    const [
      { resolveRunConfig },
      { openStore },
      { openRun },
      { carryOut },
      { decideOneGroup },
      { storeTasks },
      { checkHarnesses },
    ] = await Promise.all([
      import('../config/resolveRunConfig.ts'),
      import('../../embedded.ts'),
      import('../run/openRun.ts'),
      import('../run/carryOut.ts'),
      import('../../dispatcher/decide.ts'),
      import('../run/storeTasks.ts'),
      import('../run/checkHarnesses.ts'),
    ]);
    // One rollout has no group to be compared with, so the batch carries rewards and no advantages.
    const defaults: Partial<RunConfig> = {
      algorithm: 'ppo',
      groupsPerBatch: 1,
      minGroupSize: 1,
      wallSeconds: 600,
      maxTokens: 512,
    };
    const resolved = await resolveRunConfig({ values: context.values, env: context.env, defaults });
    const config: RunConfig = { ...resolved.config, groupSize: count, groupsPerBatch: 1 };
    const store = await openStore(context.dataDir);
    try {
      const [task] = await storeTasks(store.blobs, config.tasks.slice(0, 1));
      const harness = config.harnesses[0]!;
      checkHarnesses([harness], store.folder.harnesses);
      const { runId } = await openRun(store.log, 'rollout', config, Date.now());
      const group = {
        groupId: groupIdOf(runId, 0, task!.taskId, harness),
        task: task!,
        harness,
        groupSize: count,
        purpose: 'train' as const,
      };
      const plan = { runId, config, tasks: { train: [task!], heldOut: [] } };
      context.out(`Running ${task!.taskId} through ${harness}, ${count} time${count === 1 ? '' : 's'}`);
      await carryOut({
        store,
        runId,
        config,
        decide: (state, now) => decideOneGroup(plan, group, state, now),
        trainer: false,
        logger: context.log,
        signal: context.signal,
      });
      return await report(context, store.log, runId);
    } finally {
      await store.close();
    }
  },
};

interface RolloutReport {
  readonly rolloutId: string;
  outcome: string | null;
  reward: number | null;
  criteria: Readonly<Record<string, number>>;
  dropped: string | null;
  verdicts: readonly { callId: string; kind: string; verdict: string; reason: string | null }[];
  tokens: { total: number; trained: number } | null;
}

async function report(
  context: CommandContext,
  log: import('../../../infra/log/eventLog.ts').EventLog,
  runId: string,
): Promise<number> {
  const { readEvents } = await import('../events/readEvents.ts');
  const rollouts = new Map<string, RolloutReport>();
  for await (const { event } of readEvents(log, { topics: TOPIC_NAMES, runId })) fold(rollouts, event);
  const list = [...rollouts.values()];
  context.emit({ runId, rollouts: list });
  for (const r of list) {
    const trained = r.verdicts.filter((v) => v.verdict === 'trained').length;
    context.out('');
    context.out(
      `${r.rolloutId}   ${r.outcome ?? 'no attempt counts'}   reward ${r.reward ?? 'none'}${r.dropped === null ? '' : `   dropped: ${r.dropped}`}`,
    );
    for (const [name, value] of Object.entries(r.criteria)) context.out(`  ${name}: ${value}`);
    context.out(
      `  ${r.verdicts.length} model calls, ${trained} trained${r.tokens === null ? '' : `; sample of ${r.tokens.total} tokens, ${r.tokens.trained} trained`}`,
    );
    for (const v of r.verdicts)
      if (v.verdict !== 'trained') context.out(`  ${v.callId} ${v.kind}: ${v.verdict}, ${v.reason}`);
    context.out(`  npx espalier show ${r.rolloutId}`);
  }
  return list.every((r) => r.reward !== null) ? 0 : 1;
}

function fold(rollouts: Map<string, RolloutReport>, event: EspalierEvent): void {
  if (!('rolloutId' in event)) return;
  const { rolloutId } = event;
  const known = rollouts.get(rolloutId) ?? {
    rolloutId,
    outcome: null,
    reward: null,
    criteria: {},
    dropped: null,
    verdicts: [],
    tokens: null,
  };
  rollouts.set(rolloutId, known);
  switch (event.type) {
    case 'RolloutSettled':
      known.outcome = event.outcome;
      return;
    case 'RewardGiven':
      known.reward ??= event.reward;
      known.criteria = event.criteria;
      return;
    case 'TreeJudged':
      known.verdicts = [...known.verdicts, ...event.verdicts];
      return;
    case 'RolloutDropped':
      known.dropped = event.reason;
      return;
    case 'TrainingSample':
      known.tokens = event.tokens;
      return;
  }
}

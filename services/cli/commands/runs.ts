import { EspalierError } from '../../../schemas/errors.ts';
import type { Command, CommandContext } from '../command.ts';
import { subcommand } from '../subcommand.ts';

/** `runs list`, `runs show RUN`, `runs cancel RUN`. */
export const command: Command = {
  name: 'runs',
  summary: 'list, show or cancel runs',
  usage: 'runs list | runs show RUN | runs cancel RUN',
  details:
    'RUN is a run id or its first letters. `cancel` ends a run: nothing more is requested or trained in it.',
  options: {},
  positionals: { min: 0, max: 2 },
  async run(context) {
    const action = subcommand('runs', context.positionals, ['list', 'show', 'cancel']);
    if (action === 'list') return await list(context);
    const runId = context.positionals[1];
    if (runId === undefined) throw new EspalierError('E_USAGE', `runs ${action} needs a run id`);
    return action === 'show' ? await show(context, runId) : await cancel(context, runId);
  },
};

async function list({ dataDir, emit, out, tableColumns }: CommandContext): Promise<number> {
  const [{ withLog }, { runSummaries }, { formatTable }] = await Promise.all([
    import('../events/withLog.ts'),
    import('../runs/runSummary.ts'),
    import('../text/formatTable.ts'),
  ]);
  const runs = await withLog(dataDir, runSummaries);
  emit({ runs: runs.map(({ config: _, ...run }) => run) });
  const rows = runs.map((run) => [
    run.runId,
    new Date(run.startedAt).toISOString().slice(0, 19).replace('T', ' '),
    run.state,
    String(run.rollouts),
    String(run.calls),
    String(run.batches),
    String(run.tokens.trained),
    run.policyVersion ?? '-',
  ]);
  const header = ['run', 'started', 'state', 'rollouts', 'calls', 'batches', 'trained tokens', 'policy'];
  out(rows.length === 0 ? 'no runs yet' : formatTable(header, rows, tableColumns));
  return 0;
}

async function show({ dataDir, emit, out, tableColumns }: CommandContext, text: string): Promise<number> {
  const [{ withLog }, { runSummaries }, { rolloutSummaries }, { findId }, { formatTable }] =
    await Promise.all([
      import('../events/withLog.ts'),
      import('../runs/runSummary.ts'),
      import('../runs/rolloutSummary.ts'),
      import('../events/findId.ts'),
      import('../text/formatTable.ts'),
    ]);
  const { run, rollouts } = await withLog(dataDir, async (log) => {
    const runs = await runSummaries(log);
    const runId = findId(
      'run',
      text,
      runs.map((r) => r.runId),
    );
    const found = runs.find((r) => r.runId === runId);
    return { run: found, rollouts: await rolloutSummaries(log, runId) };
  });
  if (run === undefined) return 1;
  emit({ run, rollouts });
  const dropped = Object.entries(run.groupsDropped).map(([reason, n]) => `${n} ${reason}`);
  out(`run ${run.runId}: ${run.state}, policy ${run.policyVersion ?? 'not published'}`);
  out(
    `${run.rollouts} rollouts, ${run.calls} calls; groups: ${[`${run.groupsScored} scored`, ...dropped].join(', ')}`,
  );
  out(
    `${run.batches} batches, ${run.samples} samples, ${run.tokens.trained} of ${run.tokens.total} tokens trained\n`,
  );
  const rows = rollouts.map((r) => [
    r.rolloutId,
    r.purpose,
    r.harness,
    r.taskId,
    String(r.attempts),
    String(r.calls),
    r.outcome,
    r.reward === null ? '-' : String(r.reward),
    r.fate,
  ]);
  out(
    formatTable(
      ['rollout', 'purpose', 'harness', 'task', 'attempts', 'calls', 'outcome', 'reward', 'fate'],
      rows,
      tableColumns,
    ),
  );
  return 0;
}

async function cancel({ dataDir, emit, out }: CommandContext, text: string): Promise<number> {
  const [{ openLogForAppending }, { runSummaries }, { findId }] = await Promise.all([
    import('../events/openLogForReading.ts'),
    import('../runs/runSummary.ts'),
    import('../events/findId.ts'),
  ]);
  const log = await openLogForAppending(dataDir);
  try {
    const runs = await runSummaries(log);
    const runId = findId(
      'run',
      text,
      runs.map((r) => r.runId),
    );
    const before = runs.find((r) => r.runId === runId)?.state ?? 'running';
    const cancelled = before === 'running';
    if (cancelled) {
      const event = { type: 'RunEnded', runId, reason: 'cancelled', at: Date.now() } as const;
      await log.append([{ topic: 'scored-groups', event }]);
    }
    emit({ runId, cancelled, state: cancelled ? 'cancelled' : before });
    out(cancelled ? `run ${runId} is cancelled` : `run ${runId} had ended already: ${before}`);
    return cancelled ? 0 : 1;
  } finally {
    await log.close();
  }
}

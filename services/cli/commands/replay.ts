import { resolve } from 'node:path';
import { EspalierError } from '../../../schemas/errors.ts';
import type { Command, CommandContext } from '../command.ts';
import { flagOption, requiredOption, textOption } from '../optionValues.ts';
import type { ReplaySource } from '../replay/openReplaySource.ts';
import type { RunFacts } from '../replay/runFacts.ts';

/** Differences that are told one by one. */
const TOLD = 10;

/** `replay`: the pipeline once more over the events of a run. */
export const command: Command = {
  name: 'replay',
  summary: 'rebuild a run from its events, and compare or try another configuration',
  usage: 'replay --run RUN [--verify] [--what-if FILE [--out FILE]]',
  details: `Runs both hops of the pipeline over the recorded events, from the log, or from the archive where the log is gone. It compares every verdict, scored group, sample and batch with what was emitted, body by body: exit code 0 when all are equal, 1 with the first differences otherwise. This is what --verify asks for, and what is done where nothing else is asked.

--what-if takes a file of settings that stand over those of the run (filters, estimator, batching), tells how the outcome differs and writes the new verdicts, samples and batches to --out. What was recorded is not touched.`,
  options: {
    run: { type: 'string', placeholder: 'RUN', summary: 'run id, or its first letters' },
    verify: { type: 'boolean', summary: 'compare with what was emitted (the default)' },
    'what-if': {
      type: 'string',
      placeholder: 'FILE',
      summary: 'settings to try instead of those of the run',
    },
    out: { type: 'string', placeholder: 'FILE', summary: 'where --what-if writes JSON lines' },
  },
  async run(context) {
    const { values, dataDir } = context;
    const text = requiredOption(values, 'run');
    const other = textOption(values, 'what-if');
    if (other !== undefined && flagOption(values, 'verify')) {
      throw new EspalierError('E_USAGE', '--verify and --what-if exclude each other');
    }
    if (other === undefined && textOption(values, 'out') !== undefined) {
      throw new EspalierError('E_USAGE', '--out goes with --what-if');
    }
    const [{ openReplaySource }, { findRun }, { runFacts }] = await Promise.all([
      import('../replay/openReplaySource.ts'),
      import('../events/findRun.ts'),
      import('../replay/runFacts.ts'),
    ]);
    const source = await openReplaySource(dataDir);
    try {
      const run = await runFacts(source.records, await findRun(source.records, text));
      return other === undefined
        ? await verify(context, source, run)
        : await tryOther(context, source, run, other);
    } finally {
      await source.close();
    }
  },
};

async function verify({ emit, out }: CommandContext, source: ReplaySource, run: RunFacts): Promise<number> {
  const { verifyRun } = await import('../replay/verifyRun.ts');
  const found = await verifyRun(source.records, run);
  const { equal, differences } = found;
  const ok = differences.length === 0;
  emit({
    runId: run.runId,
    ok,
    from: source.from,
    ...found,
    differences: differences.slice(0, TOLD),
    differenceCount: differences.length,
  });
  out(`run ${run.runId}, from the ${source.from}: groups ${found.groups}, still open ${found.openGroups}`);
  out(`first hop   ${equal.firstHop} records equal`);
  out(`second hop  ${equal.secondHop} records equal`);
  if (found.notEmittedYet > 0)
    out(`${found.notEmittedYet} more records would follow: the pipeline had not emitted them`);
  for (const { event, what } of differences.slice(0, TOLD)) out(`differs: ${event}: ${what}`);
  out(ok ? 'the replay reproduces everything that was emitted' : `${differences.length} records differ`);
  return ok ? 0 : 1;
}

async function tryOther(
  { values, emit, out }: CommandContext,
  source: ReplaySource,
  run: RunFacts,
  file: string,
): Promise<number> {
  const [{ whatIf }, { countOutcomes }, { recordedOutcomes }, { resolveRunConfig }, { formatTable }] =
    await Promise.all([
      import('../replay/whatIf.ts'),
      import('../replay/countOutcomes.ts'),
      import('../replay/recordedOutcomes.ts'),
      import('../config/resolveRunConfig.ts'),
      import('../text/formatTable.ts'),
    ]);
  const { config } = resolveRunConfig({ values: {}, env: {}, file, defaults: run.config });
  const events = await whatIf(source.records, run, config);
  const before = countOutcomes(await recordedOutcomes(source.records, run));
  const after = countOutcomes(events);
  const path = textOption(values, 'out');
  if (path !== undefined) await writeEvents(resolve(path), events);
  emit({ runId: run.runId, from: source.from, recorded: before, whatIf: after, out: path ?? null });
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const rows = names.map((name) => {
    const change = (after[name] ?? 0) - (before[name] ?? 0);
    return [
      name,
      String(before[name] ?? 0),
      String(after[name] ?? 0),
      change > 0 ? `+${change}` : String(change),
    ];
  });
  out(formatTable(['outcome', 'recorded', 'what if', 'change'], rows));
  if (path !== undefined) out(`\n${events.length} events: ${resolve(path)}`);
  return 0;
}

async function writeEvents(
  path: string,
  events: Parameters<typeof import('../replay/countOutcomes.ts').countOutcomes>[0],
) {
  const [{ openLineFile }, { eventJson }, { loadSchemas }] = await Promise.all([
    import('../export/lineFile.ts'),
    import('../../../schemas/eventJson.ts'),
    import('../../../schemas/loadSchemas.ts'),
  ]);
  const json = eventJson(loadSchemas());
  const file = await openLineFile(path);
  for (const event of events) await file.write(json.write(event));
  await file.finish();
}

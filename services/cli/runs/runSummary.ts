import type { EventLog } from '../../../infra/log/eventLog.ts';
import { readEvents, readRecords } from '../events/readEvents.ts';

/** A run in one line. Counts are of events; times are epoch ms. */
export interface RunSummary {
  readonly runId: string;
  startedAt: number;
  endedAt: number | null;
  /** `running`, or the reason of RunEnded. */
  state: string;
  config: unknown;
  rollouts: number;
  calls: number;
  groupsScored: number;
  readonly groupsDropped: Record<string, number>;
  batches: number;
  samples: number;
  readonly tokens: { total: number; trained: number };
  policyVersion: string | null;
}

/** All runs of a log, oldest first. */
export async function runSummaries(log: EventLog): Promise<readonly RunSummary[]> {
  const runs = new Map<string, RunSummary>();
  const runOf = (runId: string): RunSummary => {
    const found = runs.get(runId) ?? emptySummary(runId);
    runs.set(runId, found);
    return found;
  };
  const types = ['RunConfigured', 'GroupScored', 'GroupDropped', 'PolicyPublished', 'RunEnded'] as const;
  for await (const { event, record } of readEvents(log, { topics: ['scored-groups'], types })) {
    if (!('runId' in event)) continue;
    const run = runOf(event.runId);
    if (event.type === 'RunConfigured') {
      run.config = JSON.parse(event.config);
      run.startedAt = event.at || record.timestamp;
    } else if (event.type === 'GroupScored') run.groupsScored++;
    else if (event.type === 'GroupDropped') {
      run.groupsDropped[event.reason] = (run.groupsDropped[event.reason] ?? 0) + 1;
    } else if (event.type === 'PolicyPublished') run.policyVersion = event.version;
    else if (event.type === 'RunEnded') {
      run.state = event.reason;
      run.endedAt = event.at || record.timestamp;
    }
  }
  const cuts = { topics: ['training-batches'], types: ['TrainingBatchCut'] } as const;
  for await (const { event } of readEvents(log, cuts)) {
    if (event.type !== 'TrainingBatchCut') continue;
    const run = runOf(event.runId);
    run.batches++;
    run.samples += event.samples;
    run.tokens.total += event.tokens.total;
    run.tokens.trained += event.tokens.trained;
  }
  await countByHeader(log, runOf);
  return [...runs.values()].sort((a, b) => a.startedAt - b.startedAt || (a.runId < b.runId ? -1 : 1));
}

/** Rollouts and calls, counted without decoding a record. A retry repeats a rollout's request. */
async function countByHeader(log: EventLog, runOf: (runId: string) => RunSummary): Promise<void> {
  for await (const { headers } of readRecords(log, { topics: ['rollout-requests'] })) {
    if (headers.run !== undefined && (headers.attempt ?? '0') === '0') runOf(headers.run).rollouts++;
  }
  for await (const { headers } of readRecords(log, { topics: ['model-calls'] })) {
    if (headers.run !== undefined) runOf(headers.run).calls++;
  }
}

function emptySummary(runId: string): RunSummary {
  return {
    runId,
    startedAt: 0,
    endedAt: null,
    state: 'running',
    config: null,
    rollouts: 0,
    calls: 0,
    groupsScored: 0,
    groupsDropped: {},
    batches: 0,
    samples: 0,
    tokens: { total: 0, trained: 0 },
    policyVersion: null,
  };
}

import type { EspalierEvent, GroupScored, RunEnded } from '../../schemas/generated/events.ts';
import { type BatchOutput, cutBatch } from '../batch/cutBatch.ts';
import type { RunEvent, RunState } from '../batch/runState.ts';
import type { GroupOutput } from '../group/groupState.ts';
import type { PipelineConfig, PolicyVersions } from '../pipelineConfig.ts';
import { feed } from '../stage.ts';
import { inCanonicalOrder } from './canonicalOrder.ts';
import { closeRecording, type RecordedEvent } from './closeRecording.ts';
import { groupBy } from './groupBy.ts';

/** What a recording becomes. */
export type AssembledEvent = Exclude<GroupOutput, { type: 'RolloutScored' | 'GroupClosed' }> | BatchOutput;

const GROUP_EVENTS: ReadonlySet<string> = new Set<RecordedEvent['type']>([
  'RolloutRequested',
  'RolloutStarted',
  'RolloutSealed',
  'RolloutEnded',
  'RolloutAbandoned',
  'RolloutSettled',
  'ModelCalled',
  'ModelCallFailed',
  'RewardGiven',
  'VerificationFailed',
]);

/**
 * The whole pipeline over a finished recording: the verdicts of every group, sorted by groupId, then the
 * batches of every run. The output does not depend on the order of the input. Policies count as published
 * before the first batch is cut, no trainer is waited for, and at the end what is left is cut.
 *
 * Events that the pipeline itself emits are left out of account: a recording may hold them.
 */
export function assemble(
  recording: readonly EspalierEvent[],
  config: PipelineConfig,
): readonly AssembledEvent[] {
  const ordered = inCanonicalOrder(recording);
  const published = ordered.filter((event) => event.type === 'PolicyPublished');
  const policies = groupBy(published, ({ runId }) => runId);
  const versionsOf = (runId: string): PolicyVersions => {
    const known = policies.get(runId);
    return known === undefined ? 'ignored' : new Set(known.map(({ version }) => version));
  };
  const closed = closeRecording(ordered.filter(isGroupEvent), config, versionsOf);
  const scored = closed.filter((event) => event.type === 'RolloutScored' || event.type === 'GroupScored');
  const verdicts = closed.filter((event) => event.type !== 'RolloutScored' && event.type !== 'GroupClosed');
  return [...verdicts, ...cutAll([...published, ...scored, ...endsOf(scored)], config)];
}

function cutAll(events: readonly RunEvent[], config: PipelineConfig): readonly BatchOutput[] {
  const stage = cutBatch(() => ({ ...config, maxQueuedBatches: Number.POSITIVE_INFINITY }));
  const runs = new Map<string, RunState>();
  return events.flatMap((event, offset) => feed(stage, runs, { event, offset }));
}

function endsOf(scored: readonly GroupOutput[]): readonly RunEnded[] {
  const manifests = scored.filter((event): event is GroupScored => event.type === 'GroupScored');
  const runIds = [...new Set(manifests.map(({ runId }) => runId))].sort();
  return runIds.map((runId) => ({ type: 'RunEnded', runId, reason: 'completed', at: 0 }));
}

function isGroupEvent(event: EspalierEvent): event is RecordedEvent {
  return GROUP_EVENTS.has(event.type);
}

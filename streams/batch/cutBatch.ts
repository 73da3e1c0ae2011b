import type { GroupDropped, TrainingBatchCut, TrainingSample } from '../../schemas/generated/events.ts';
import type { ConfigOf, PipelineConfig } from '../pipelineConfig.ts';
import type { Stage } from '../stage.ts';
import { buildBatch } from './buildBatch.ts';
import { emptyRun, type PendingGroup, type RunRecord, type RunState } from './runState.ts';
import { ageOf, publish } from './staleness.ts';

/** What the second hop emits. */
export type BatchOutput = GroupDropped | TrainingSample | TrainingBatchCut;

/** Reason of a RunEnded after which nothing more is trained; after any other what is left is cut. */
const CANCELLED = 'cancelled';

/**
 * Second hop, keyed by run: collects scored groups and cuts them into batches in the order of their
 * records. Batch k is cut only while k <= trainedThroughBatch + maxQueuedBatches, so a trainer that falls
 * behind is waited for. At each cut, groups of which any trained token is older than `maxOffPolicySteps`
 * are dropped first. The outputs are a function of the records in offset order.
 */
export function cutBatch(configOf: ConfigOf): Stage<RunRecord, RunState, BatchOutput> {
  return {
    name: 'cutBatch',
    key: ({ event }) => event.runId,
    init: emptyRun,
    step(run, record) {
      const { event, offset } = record;
      if (run.replay !== null && offset <= run.replay.through) {
        if ('groupId' in event && run.replay.pending.has(event.groupId)) collect(run, record);
        return { state: run, out: [] };
      }
      const config = configOf(run.runId);
      if (event.type === 'RunEnded') return { done: true, out: end(run, config, record, event.reason) };
      if (event.type === 'PolicyPublished') publish(run, event, config.maxOffPolicySteps);
      else collect(run, record);
      const out: BatchOutput[] = [];
      while (readyGroups(run).length >= config.groupsPerBatch && mayQueue(run, config)) {
        out.push(...dropStale(run, config));
        const chosen = readyGroups(run).slice(0, config.groupsPerBatch);
        if (chosen.length === config.groupsPerBatch) out.push(...cut(run, chosen, config, offset));
      }
      return { state: run, out };
    },
  };
}

function mayQueue(run: RunState, config: PipelineConfig): boolean {
  return run.nextBatch <= run.trainedThroughBatch + config.maxQueuedBatches;
}

/** A dropped group lets go of what had arrived; its rollouts come before their manifest. */
function collect(run: RunState, { event, offset }: RunRecord): void {
  if (event.type === 'RolloutScored') groupOf(run, event.groupId, offset).rollouts.push(event);
  else if (event.type === 'GroupScored') groupOf(run, event.groupId, offset).ready = true;
  else if (event.type === 'GroupDropped') run.groups.delete(event.groupId);
}

function groupOf(run: RunState, groupId: string, offset: number): PendingGroup {
  let group = run.groups.get(groupId);
  if (group === undefined) {
    group = { groupId, firstOffset: offset, rollouts: [], ready: false };
    run.groups.set(groupId, group);
  }
  return group;
}

function readyGroups(run: RunState): readonly PendingGroup[] {
  return [...run.groups.values()].filter(({ ready }) => ready);
}

function dropStale(run: RunState, config: PipelineConfig): readonly GroupDropped[] {
  const dropped: GroupDropped[] = [];
  for (const { groupId, rollouts } of readyGroups(run)) {
    const age = ageOf(run, rollouts);
    if (age <= config.maxOffPolicySteps) continue;
    run.groups.delete(groupId);
    run.staleGroups = [...run.staleGroups, groupId];
    const detail = `its oldest policy is ${age} steps behind, at most ${config.maxOffPolicySteps}`;
    dropped.push({ type: 'GroupDropped', runId: run.runId, groupId, reason: 'stale', detail });
  }
  return dropped;
}

function cut(
  run: RunState,
  chosen: readonly PendingGroup[],
  config: PipelineConfig,
  offset: number,
): readonly BatchOutput[] {
  const batch = buildBatch(run, chosen, config, offset);
  for (const { groupId } of chosen) run.groups.delete(groupId);
  run.nextBatch++;
  run.staleGroups = [];
  return batch;
}

/** Cuts what is left, the last batch as small as it comes; what was never completed is dropped. */
function end(
  run: RunState,
  config: PipelineConfig,
  { offset }: RunRecord,
  reason: string,
): readonly BatchOutput[] {
  const out: BatchOutput[] = [];
  if (reason !== CANCELLED) {
    out.push(...dropStale(run, config));
    for (let left = readyGroups(run); left.length > 0; left = readyGroups(run)) {
      out.push(...cut(run, left.slice(0, config.groupsPerBatch), config, offset));
    }
  }
  for (const groupId of run.groups.keys()) {
    out.push({ type: 'GroupDropped', runId: run.runId, groupId, reason: 'runEnded', detail: reason });
  }
  return out;
}

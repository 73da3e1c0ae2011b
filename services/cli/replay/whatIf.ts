import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import type { RunRecord } from '../../../streams/batch/runState.ts';
import type { GroupOutput } from '../../../streams/group/groupState.ts';
import type { RecordSource } from '../events/readEvents.ts';
import { recordedGroups } from './recordedGroups.ts';
import { isRunEvent, isSecondHopDrop, replayBatches } from './replayBatches.ts';
import { replayGroup } from './replayGroup.ts';
import type { RunFacts } from './runFacts.ts';

/**
 * A run under another configuration: the groups that closed, judged and scored anew, and cut into
 * batches in the order in which they closed. No trainer is waited for: it never saw these batches.
 * Policies count from where they were published; what is left at the end is cut.
 */
export async function whatIf(
  source: RecordSource,
  run: RunFacts,
  config: RunConfig,
): Promise<readonly EspalierEvent[]> {
  const closed = new Map<string, readonly GroupOutput[]>();
  for (let partition = 0; partition < source.partitions; partition++) {
    for (const group of await recordedGroups(source, run.runId, partition)) {
      if (group.markers.length > 0) closed.set(group.groupId, replayGroup(group, config, run.versions));
    }
  }
  const verdicts = [...closed.values()]
    .flat()
    .filter(({ type }) => type !== 'RolloutScored' && type !== 'GroupClosed');
  const records = secondHopInput(run, closed);
  const unbounded = { ...config, maxQueuedBatches: Number.POSITIVE_INFINITY };
  return [...verdicts, ...replayBatches(records, unbounded)];
}

/** The recorded order of closing, with every group's records exchanged for its new ones. */
function secondHopInput(
  run: RunFacts,
  closed: ReadonlyMap<string, readonly GroupOutput[]>,
): readonly RunRecord[] {
  const placed = new Set<string>();
  const events: RunRecord['event'][] = [];
  let ended: RunRecord['event'] | undefined;
  for (const { event } of run.records) {
    if (event.type === 'RunEnded') ended ??= event;
    else if (!('groupId' in event)) events.push(event);
    else if (!isSecondHopDrop(event) && !placed.has(event.groupId)) {
      placed.add(event.groupId);
      for (const output of closed.get(event.groupId) ?? []) if (isRunEvent(output)) events.push(output);
    }
  }
  events.push(ended ?? { type: 'RunEnded', runId: run.runId, reason: 'completed', at: 0 });
  return events.map((event, offset) => ({ event, offset }));
}

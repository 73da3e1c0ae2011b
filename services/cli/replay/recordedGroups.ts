import type { GroupClosed } from '../../../schemas/generated/events.ts';
import type { GroupEvent } from '../../../streams/group/groupState.ts';
import { readGroupEvent } from '../../processor/readGroupEvent.ts';
import { type RecordSource, readEvents, readRecords } from '../events/readEvents.ts';

/** What a log holds of one group. */
export interface RecordedGroup {
  readonly groupId: string;
  /** Its events with the time of their records. */
  readonly events: { readonly event: GroupEvent; readonly timestamp: number }[];
  /** Its markers: none while it is open, one more for every call that came too late. */
  readonly markers: GroupClosed[];
}

const INPUTS = ['rollout-requests', 'rollouts', 'model-calls', 'rewards'] as const;

/** The groups of a run in one partition, their records read as the pipeline reads them. */
export async function recordedGroups(
  source: RecordSource,
  runId: string,
  partition: number,
): Promise<readonly RecordedGroup[]> {
  const groups = new Map<string, RecordedGroup>();
  for await (const record of readRecords(source, { topics: INPUTS, partitions: [partition] })) {
    const { headers, key, topic, timestamp } = record;
    // Without readable headers only the key says where a record belongs.
    if (headers.run === undefined ? !groups.has(key) : headers.run !== runId) continue;
    const { groupId, event } = readGroupEvent(source, record);
    if (!groups.has(groupId)) {
      // A group that was never requested is no group: its records are dead letters.
      if (topic !== 'rollout-requests') continue;
      groups.set(groupId, { groupId, events: [], markers: [] });
    }
    if (event !== null) groups.get(groupId)?.events.push({ event, timestamp });
  }
  const markers = { topics: ['group-markers'], partitions: [partition], runId } as const;
  for await (const { event } of readEvents(source, markers)) {
    if (event.type === 'GroupClosed') groups.get(event.groupId)?.markers.push(event);
  }
  return [...groups.values()];
}

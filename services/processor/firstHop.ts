import type { EventLog, LogRecord, Outgoing } from '../../infra/log/eventLog.ts';
import type { Hop, HopWorker } from '../../infra/runner.ts';
import type { DeadLettered } from '../../schemas/generated/events.ts';
import type { Topic } from '../../schemas/topics.ts';
import { judgeLateCall } from '../../streams/group/corruptGroup.ts';
import type { GroupEvent, GroupOutput, GroupState } from '../../streams/group/groupState.ts';
import { feed, type Stage } from '../../streams/stage.ts';
import { deadLetter, originOf, readDeadLetters } from './deadLetter.ts';
import { readGroupMarkers } from './groupMarkers.ts';
import { readGroupEvent } from './readGroupEvent.ts';
import { routeOutput } from './routeOutput.ts';
import type { RunDirectory } from './runDirectory.ts';

const TOPICS = ['rollout-requests', 'rollouts', 'model-calls', 'rewards'] as const satisfies readonly Topic[];

/** What the worker keeps of a group besides the stage's state. */
interface OpenGroup {
  /** Offset of its first record, by topic. */
  readonly first: Map<Topic, bigint>;
  /** Dead letters of its records: they leave with the group, in the transaction of their effect. */
  readonly letters: DeadLettered[];
}

/**
 * From the events of groups to scored groups. Nothing of a group leaves before it closes; then
 * everything and its marker at once. The inputs are read again from the oldest event that an open group
 * still needs, and the markers, read first, say which groups to pass over.
 */
export function firstHop(
  log: EventLog,
  runs: RunDirectory,
  stage: Stage<GroupEvent, GroupState, GroupOutput>,
): Hop {
  return {
    name: 'first-hop',
    topics: TOPICS,
    // A group's requests are acknowledged before its rollouts start.
    anchor: 'rollout-requests',
    open: (partition) => openPartition(log, runs, stage, partition),
  };
}

async function openPartition(
  log: EventLog,
  runs: RunDirectory,
  stage: Stage<GroupEvent, GroupState, GroupOutput>,
  partition: number,
): Promise<HopWorker> {
  const markers = await readGroupMarkers(log, partition);
  const { origins, unreadableKeys } = await readDeadLetters(log, partition);
  /** Groups of which a record could not be read before anything of them was known. */
  const suspects = new Set(unreadableKeys);
  const states = new Map<string, GroupState>();
  const open = new Map<string, OpenGroup>();

  /** Dead letters that were not written before: a restart may read their records again. */
  const unwritten = (letters: readonly DeadLettered[]) =>
    letters.filter((letter) => {
      const origin = originOf(letter);
      return !origins.has(origin) && origins.add(origin);
    });

  /** Outputs for a record of a group that has its marker: only a call it does not know leaves any. */
  const afterClose = async (event: GroupEvent | null): Promise<readonly GroupOutput[]> => {
    if (event?.type !== 'ModelCalled' && event?.type !== 'ModelCallFailed') return [];
    const marker = await markers.find(event.groupId);
    const judged = marker === null ? null : judgeLateCall(event, marker);
    if (marker === null || judged === null) return [];
    // The new marker knows the call, so that it is judged once however often it is read.
    const grown = { ...marker, callIds: [...marker.callIds, event.callId].sort() };
    markers.add(grown);
    return [judged, grown];
  };

  /** A group opens with a request of it, whose run is known; null: it does not. */
  const openGroup = async (
    record: LogRecord,
    groupId: string,
    event: GroupEvent | null,
  ): Promise<OpenGroup | null> => {
    if (record.topic !== 'rollout-requests' || event === null) return null;
    if ((await runs.configOf(event.runId)) === null) return null;
    const group: OpenGroup = { first: new Map(), letters: [] };
    open.set(groupId, group);
    return group;
  };

  const take = async (record: LogRecord): Promise<readonly (GroupOutput | DeadLettered)[]> => {
    const { groupId, event, letter } = readGroupEvent(log, record);
    const letters = letter === null ? [] : [letter];
    if (markers.has(groupId)) return [...unwritten(letters), ...(await afterClose(event))];

    const group = open.get(groupId) ?? (await openGroup(record, groupId, event));
    if (group === null) {
      if (letter !== null) suspects.add(groupId);
      return unwritten([letter ?? unknownOrigin(record, groupId)]);
    }
    if (!group.first.has(record.topic)) group.first.set(record.topic, record.offset);
    group.letters.push(...letters);
    if (event === null) return [];

    const runId = event.runId;
    const out = feed(
      stage,
      states,
      suspects.delete(groupId) ? { type: 'GroupCorrupt', runId, groupId } : event,
    );
    if (states.has(groupId)) return out;
    open.delete(groupId);
    for (const output of out) if (output.type === 'GroupClosed') markers.add(output);
    return [...unwritten(group.letters), ...out];
  };

  return {
    async process(records) {
      const outgoing: Outgoing[] = [];
      for (const record of records) outgoing.push(...(await take(record)).flatMap(routeOutput));
      return outgoing;
    },
    needs(topic) {
      let oldest: bigint | null = null;
      for (const { first } of open.values()) {
        const offset = first.get(topic);
        if (offset !== undefined && (oldest === null || offset < oldest)) oldest = offset;
      }
      return oldest;
    },
  };
}

function unknownOrigin(record: LogRecord, groupId: string): DeadLettered {
  const runId = record.headers.run ?? '';
  return record.topic === 'rollout-requests'
    ? deadLetter(record, 'E_RUN_UNKNOWN', `run ${runId} has no RunConfigured`)
    : deadLetter(record, 'E_GROUP_UNKNOWN', `group ${groupId} was never requested`);
}

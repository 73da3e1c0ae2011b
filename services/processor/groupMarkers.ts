import type { EventLog } from '../../infra/log/eventLog.ts';
import type { GroupClosed } from '../../schemas/generated/events.ts';
import { scanTopic } from './scanTopic.ts';

/** Markers kept whole; of older ones only the fact. */
const KEPT = 2048;

/** The groups of a partition that are closed. */
export interface GroupMarkers {
  has(groupId: string): boolean;
  add(marker: GroupClosed): void;
  /** The newest marker of a closed group. */
  find(groupId: string): Promise<GroupClosed | null>;
}

/** Reads the markers of a partition to their present end. */
export async function readGroupMarkers(log: EventLog, partition: number): Promise<GroupMarkers> {
  const closed = new Set<string>();
  const recent = new Map<string, GroupClosed>();
  const add = (marker: GroupClosed) => {
    closed.add(marker.groupId);
    recent.delete(marker.groupId);
    recent.set(marker.groupId, marker);
    if (recent.size > KEPT) recent.delete(recent.keys().next().value as string);
  };
  const scan = async (visit: (marker: GroupClosed) => void) => {
    const to = await log.end('group-markers', partition);
    await scanTopic(log, 'group-markers', partition, { from: 0n, to }, (record) => {
      const marker = log.decode(record);
      if (marker.type === 'GroupClosed') visit(marker);
    });
  };
  await scan(add);
  return {
    has: (groupId) => closed.has(groupId),
    add,
    async find(groupId) {
      const kept = recent.get(groupId);
      if (kept !== undefined || !closed.has(groupId)) return kept ?? null;
      let found: GroupClosed | null = null;
      await scan((marker) => {
        if (marker.groupId === groupId) found = marker;
      });
      return found;
    },
  };
}

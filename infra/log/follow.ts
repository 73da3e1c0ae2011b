import type { EspalierEvent } from '../../schemas/generated/events.ts';
import type { Topic } from '../../schemas/topics.ts';
import type { EventLog, LogRecord } from './eventLog.ts';

/** What a follower needs to know. */
export interface Follow {
  readonly log: EventLog;
  readonly topics: readonly Topic[];
  readonly signal: AbortSignal;
  /** Called with each batch of events, in order within a partition; the next read waits for it. */
  readonly onEvents: (events: readonly EspalierEvent[]) => Promise<void> | void;
  /** Called whenever everything that is in the log has been handed over. */
  readonly onCaughtUp?: () => Promise<void> | void;
  /** Called for a record that cannot be decoded; by default it is skipped, since the processor dead-letters it. */
  readonly onUnreadable?: (record: LogRecord) => void;
}

const BATCH = 512;
const IDLE_MS = 1000;

/**
 * Folds topics from their beginning and then follows them until the signal aborts. For services
 * whose state is a fold of the log: they write no offsets, a restart folds again.
 */
export async function follow({
  log,
  topics,
  signal,
  onEvents,
  onCaughtUp,
  onUnreadable,
}: Follow): Promise<void> {
  const positions = topics.flatMap((topic) =>
    Array.from({ length: log.partitions }, (_, partition) => ({ topic, partition, next: 0n })),
  );
  let seen = 0;
  while (!signal.aborted) {
    seen = await log.waitForAppend(seen, 0);
    let read = 0;
    for (const position of positions) {
      const records = await log.read(position.topic, position.partition, position.next, BATCH);
      const last = records.at(-1);
      if (last === undefined || signal.aborted) continue;
      read += records.length;
      position.next = last.offset + 1n;
      await onEvents(records.flatMap((record) => decoded(log, record, onUnreadable)));
    }
    if (read > 0) continue;
    await onCaughtUp?.();
    await log.waitForAppend(seen, IDLE_MS);
  }
}

function decoded(log: EventLog, record: LogRecord, onUnreadable: Follow['onUnreadable']): EspalierEvent[] {
  try {
    return [log.decode(record)];
  } catch {
    onUnreadable?.(record);
    return [];
  }
}

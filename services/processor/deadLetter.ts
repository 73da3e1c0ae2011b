import type { EventLog, LogRecord } from '../../infra/log/eventLog.ts';
import type { DeadLettered } from '../../schemas/generated/events.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import { scanTopic } from './scanTopic.ts';

/**
 * A record that cannot be used, with its origin. Its time is the record's own: what a hop emits
 * depends on its inputs only.
 */
export function deadLetter(record: LogRecord, code: string, message: string): DeadLettered {
  return {
    type: 'DeadLettered',
    topic: record.topic,
    partition: record.partition,
    offset: Number(record.offset),
    code,
    message,
    key: record.key,
    value: record.value,
    at: record.timestamp,
  };
}

/** Names the origin of a dead letter. */
export function originOf({ topic, partition, offset }: DeadLettered): string {
  return `${topic}/${partition}/${offset}`;
}

/** What the dead letters of a partition tell a hop that starts. */
export interface WrittenLetters {
  readonly origins: Set<string>;
  /** Keys of records that could not even be read: of a group of that name something is missing. */
  readonly unreadableKeys: ReadonlySet<string>;
}

/** Reads all dead letters that records of this partition have left. */
export async function readDeadLetters(log: EventLog, partition: number): Promise<WrittenLetters> {
  const origins = new Set<string>();
  const unreadableKeys = new Set<string>();
  // A dead letter keeps the key of its record, so it is in the same partition, unless there was no key.
  for (const p of new Set([partition, partitionOf('', log.partitions)])) {
    const to = await log.end('dead-letters', p);
    await scanTopic(log, 'dead-letters', p, { from: 0n, to }, (record) => {
      const letter = log.decode(record);
      if (letter.type !== 'DeadLettered') return;
      origins.add(originOf(letter));
      if (letter.code === 'E_EVENT_DECODE' && letter.key !== null) unreadableKeys.add(letter.key);
    });
  }
  return { origins, unreadableKeys };
}

import type { EventLog, LogRecord } from '../../../infra/log/eventLog.ts';
import type { EspalierEvent, EventType } from '../../../schemas/generated/events.ts';
import type { Topic } from '../../../schemas/topics.ts';

/** Which records to read; those whose headers do not match are not decoded. */
export interface EventFilter {
  readonly topics: readonly Topic[];
  readonly runId?: string;
  readonly groupId?: string;
  readonly rolloutId?: string;
  readonly types?: readonly EventType[];
  /** All partitions where absent. */
  readonly partitions?: readonly number[];
}

/** What records can be read from: a log, or the archive of one. */
export type RecordSource = Pick<EventLog, 'partitions' | 'read' | 'decode'>;

/** An event and the record it stood in. */
export interface ReadEvent {
  readonly event: EspalierEvent;
  readonly record: LogRecord;
}

const BATCH = 512;

/**
 * The matching events of a log up to its present end: topic by topic, partition by partition, in
 * offset order.
 * @param onUnreadable told of a matching record that cannot be decoded; the error is thrown where
 * it is absent
 */
export async function* readEvents(
  log: RecordSource,
  filter: EventFilter,
  onUnreadable?: (record: LogRecord, error: unknown) => void,
): AsyncGenerator<ReadEvent> {
  for await (const record of readRecords(log, filter)) {
    let event: EspalierEvent;
    try {
      event = log.decode(record);
    } catch (error) {
      if (onUnreadable === undefined) throw error;
      onUnreadable(record, error);
      continue;
    }
    yield { event, record };
  }
}

/** The matching records, undecoded: enough where headers, offsets or times are all that is asked. */
export async function* readRecords(log: RecordSource, filter: EventFilter): AsyncGenerator<LogRecord> {
  const partitions = filter.partitions ?? Array.from({ length: log.partitions }, (_, i) => i);
  for (const topic of filter.topics) {
    for (const partition of partitions) {
      let next = 0n;
      for (;;) {
        const records = await log.read(topic, partition, next, BATCH);
        for (const record of records) if (matches(record.headers, filter)) yield record;
        const last = records.at(-1);
        if (last === undefined) break;
        next = last.offset + 1n;
      }
    }
  }
}

function matches(headers: LogRecord['headers'], filter: EventFilter): boolean {
  const { runId, groupId, rolloutId, types } = filter;
  return (
    (runId === undefined || headers.run === runId) &&
    (groupId === undefined || headers.group === groupId) &&
    (rolloutId === undefined || headers.rollout === rolloutId) &&
    (types === undefined || (types as readonly string[]).includes(headers.type ?? ''))
  );
}

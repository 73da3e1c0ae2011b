import type { EspalierEvent } from '../../schemas/generated/events.ts';
import type { Topic } from '../../schemas/topics.ts';

/** An event on its way into a topic. Key and partition follow from topic and event. */
export interface Outgoing {
  readonly topic: Topic;
  readonly event: EspalierEvent;
}

/** A record as it stands in the log. */
export interface LogRecord {
  readonly topic: Topic;
  readonly partition: number;
  /** Position in the partition, from 0, without gaps visible to readers. */
  readonly offset: bigint;
  readonly key: string;
  /** Append time, epoch ms. */
  readonly timestamp: number;
  /** type, run, group, rollout, attempt and call id, readable even if the value is not. */
  readonly headers: Readonly<Record<string, string>>;
  /** Confluent framing: 0, schema id (int32, big endian), Avro body. */
  readonly value: Uint8Array;
}

/** Where a consumer stands in one partition; `from` is what it believes is stored. */
export interface OffsetMove {
  readonly topic: Topic;
  readonly partition: number;
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * A durable, partitioned log. Appends are acknowledged only when they would survive a kill of the
 * machine's processes; a reader sees a committed group of records entirely or not at all.
 */
export interface EventLog {
  readonly partitions: number;
  /** Appends atomically, in order; resolves when durable, with the position of each record. */
  append(records: readonly Outgoing[]): Promise<readonly { partition: number; offset: bigint }[]>;
  /**
   * Appends outputs and moves a consumer's offsets in one transaction.
   * @throws EspalierError E_LOG_CONFLICT when a stored offset is not `from`; nothing is written.
   */
  commit(consumer: string, outputs: readonly Outgoing[], moves: readonly OffsetMove[]): Promise<void>;
  /** Next offset the consumer would read; 0 when it never committed. */
  committed(consumer: string, topic: Topic, partition: number): Promise<bigint>;
  /** Offset after the last record. */
  end(topic: Topic, partition: number): Promise<bigint>;
  /** At most `limit` records (and about `maxBytes`) from an offset; empty at the end. Never waits. */
  read(
    topic: Topic,
    partition: number,
    from: bigint,
    limit: number,
    maxBytes?: number,
  ): Promise<readonly LogRecord[]>;
  /** Resolves when something was appended since `since` (an opaque count from the last call), or after `timeoutMs`. */
  waitForAppend(since: number, timeoutMs: number): Promise<number>;
  /** The event of a record. @throws EspalierError E_EVENT_DECODE */
  decode(record: LogRecord): EspalierEvent;
  close(): Promise<void>;
}

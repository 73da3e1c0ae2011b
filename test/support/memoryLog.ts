import type { EventLog, LogRecord, OffsetMove, Outgoing } from '../../infra/log/eventLog.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { EspalierEvent } from '../../schemas/generated/events.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import { keyOf, type Topic } from '../../schemas/topics.ts';

/** A log in memory whose appends a test can hold back or break. */
export interface MemoryLog extends EventLog {
  /** Events of a topic in the order they were appended, over all partitions. */
  events(topic: Topic): readonly EspalierEvent[];
  /** Awaited before every append; a rejection is the append's. */
  beforeAppend: (records: readonly Outgoing[]) => Promise<void>;
}

/** An empty log. Events are kept as they are: records have no bytes. */
export function memoryLog(partitions = 2): MemoryLog {
  const records = new Map<string, LogRecord[]>();
  const events = new Map<LogRecord, EspalierEvent>();
  const offsets = new Map<string, bigint>();
  const all: { topic: Topic; event: EspalierEvent }[] = [];
  const listOf = (topic: Topic, partition: number): LogRecord[] => {
    const key = `${topic}/${partition}`;
    const list = records.get(key) ?? [];
    records.set(key, list);
    return list;
  };
  const put = ({ topic, event }: Outgoing): { partition: number; offset: bigint } => {
    const key = keyOf(topic, event);
    const partition = partitionOf(key, partitions);
    const list = listOf(topic, partition);
    const fields = event as { rolloutId?: string; attempt?: number; groupId?: string };
    const record: LogRecord = {
      topic,
      partition,
      offset: BigInt(list.length),
      key,
      timestamp: Date.now(),
      headers: {
        type: event.type,
        ...(fields.groupId === undefined ? {} : { group: fields.groupId }),
        ...(fields.rolloutId === undefined ? {} : { rollout: fields.rolloutId }),
        ...(fields.attempt === undefined ? {} : { attempt: String(fields.attempt) }),
      },
      value: new Uint8Array(),
    };
    list.push(record);
    events.set(record, event);
    all.push({ topic, event });
    return { partition, offset: record.offset };
  };
  const log: MemoryLog = {
    partitions,
    beforeAppend: async () => undefined,
    events: (topic) => all.filter((entry) => entry.topic === topic).map((entry) => entry.event),
    async append(outgoing) {
      await log.beforeAppend(outgoing);
      return outgoing.map(put);
    },
    async commit(consumer, outputs, moves: readonly OffsetMove[]) {
      const keyed = moves.map((move) => ({ ...move, key: `${consumer}/${move.topic}/${move.partition}` }));
      if (keyed.some((move) => (offsets.get(move.key) ?? 0n) !== move.from)) {
        throw new EspalierError('E_LOG_CONFLICT', `${consumer} does not stand where it believes`);
      }
      for (const move of keyed) offsets.set(move.key, move.to);
      outputs.map(put);
    },
    committed: async (consumer, topic, partition) => offsets.get(`${consumer}/${topic}/${partition}`) ?? 0n,
    end: async (topic, partition) => BigInt(listOf(topic, partition).length),
    read: async (topic, partition, from, limit) =>
      listOf(topic, partition).slice(Number(from), Number(from) + limit),
    waitForAppend: async (since) => since + 1,
    decode: (record) => events.get(record)!,
    close: async () => undefined,
  };
  return log;
}

import type { EventLog, LogRecord } from '../../infra/log/eventLog.ts';
import type { Topic } from '../../schemas/topics.ts';

const BATCH = 512;

/** Reads a partition from one offset up to another, in bounded batches. */
export async function scanTopic(
  log: EventLog,
  topic: Topic,
  partition: number,
  range: { readonly from: bigint; readonly to: bigint },
  visit: (record: LogRecord) => void | Promise<void>,
): Promise<void> {
  for (let at = range.from; at < range.to; ) {
    const records = await log.read(topic, partition, at, BATCH);
    for (const record of records) {
      if (record.offset >= range.to) return;
      await visit(record);
    }
    const last = records.at(-1);
    if (last === undefined) return;
    at = last.offset + 1n;
  }
}

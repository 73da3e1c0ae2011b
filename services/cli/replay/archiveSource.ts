import type { LogRecord } from '../../../infra/log/eventLog.ts';
import { createRecordCodec } from '../../../infra/log/recordCodec.ts';
import { embeddedRegistry, memorySchemaStore } from '../../../infra/registry/embeddedRegistry.ts';
import type { Row, Warehouse } from '../../../infra/warehouse/warehouse.ts';
import type { Topic } from '../../../schemas/topics.ts';
import type { RecordSource } from '../events/readEvents.ts';

/** Records of one query at most; they hold whole calls. */
const BATCH = 256;

/**
 * The records of a log, read from its archive, which has every one of them byte for byte. Schema ids
 * follow from the schemas' content, so no registry is needed for records of this version.
 */
export async function archiveSource(warehouse: Warehouse): Promise<RecordSource> {
  const [counted] = await warehouse.query('SELECT max(partition) AS last FROM event_log');
  const partitions = Number(counted?.last ?? 0) + 1;
  const registry = embeddedRegistry(memorySchemaStore());
  const codec = await createRecordCodec({ registry, partitions, recordLimit: Number.POSITIVE_INFINITY });
  return {
    partitions,
    async read(topic, partition, from, limit) {
      const rows = await warehouse.query(
        `SELECT offset, key, toUnixTimestamp64Milli(time) AS timestamp, headers, base64Encode(value) AS value
         FROM event_log
         WHERE topic = {topic:String} AND partition = {partition:UInt16} AND offset >= {from:UInt64}
         ORDER BY offset LIMIT {limit:UInt32}`,
        { params: { topic, partition, from: String(from), limit: Math.min(limit, BATCH) } },
      );
      return rows.map((row) => recordOf(topic, partition, row));
    },
    decode: (record) => codec.decode(record),
  };
}

function recordOf(topic: Topic, partition: number, row: Row): LogRecord {
  return {
    topic,
    partition,
    offset: BigInt(String(row.offset)),
    key: String(row.key),
    timestamp: Number(row.timestamp),
    headers: row.headers as Readonly<Record<string, string>>,
    value: new Uint8Array(Buffer.from(String(row.value), 'base64')),
  };
}

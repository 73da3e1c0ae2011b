import { EspalierError } from '../../schemas/errors.ts';
import type { Topic } from '../../schemas/topics.ts';
import { dataDirWriteError } from '../process/ensureWritable.ts';
import { embeddedRegistry } from '../registry/embeddedRegistry.ts';
import type { Registry } from '../registry/registry.ts';
import { createAppendSignal } from './appendSignal.ts';
import type { EventLog, LogRecord, OffsetMove, Outgoing } from './eventLog.ts';
import { type LmdbStore, openLmdbStore } from './lmdbStore.ts';
import { createRecordCodec, type EncodedRecord } from './recordCodec.ts';
import { fromStored, recordKey, toStored } from './storedRecord.ts';

const DEFAULT_PARTITIONS = 4;
const DEFAULT_RECORD_LIMIT = 16 * 1024 ** 2;
const DEFAULT_MAX_BYTES = 64 * 1024 ** 2;
const POLL_MS = 4;
/** Offsets are kept in six bytes. */
const LAST_OFFSET = 2 ** 48 - 1;

/** Options of the embedded log. */
export interface LmdbLogOptions {
  /** Folder of the LMDB environment; the owner and its children open the same one. */
  readonly dir: string;
  /** Default: a registry inside the same environment. */
  readonly registry?: Registry;
  /** Only when the log is new (default 4); another count than the stored one is refused. */
  readonly partitions?: number;
  readonly readOnly?: boolean;
  /** Largest framed record in bytes, default 16 MiB. */
  readonly recordLimit?: number;
}

/** The embedded log with the registry that its records are framed by. */
export interface LmdbLog extends EventLog {
  readonly registry: Registry;
}

/**
 * Opens the embedded log. Several processes may have it open. Offsets are allocated inside the
 * write transaction, so they have no gaps; concurrent appends share one flush.
 *
 * @throws EspalierError E_DATA_DIR_WRITE, E_LOG_PARTITIONS, E_SCHEMA_INCOMPATIBLE
 */
export async function openLmdbLog(options: LmdbLogOptions): Promise<LmdbLog> {
  const store = openLmdbStore(options.dir, options.readOnly === true);
  try {
    return await createLog(store, options);
  } catch (cause) {
    await store.close();
    throw cause;
  }
}

async function createLog(store: LmdbStore, options: LmdbLogOptions): Promise<LmdbLog> {
  const { dir, readOnly = false, recordLimit = DEFAULT_RECORD_LIMIT } = options;
  const partitions = await fixPartitions(store, options);
  const registry = options.registry ?? embeddedRegistry(store.schemas, { readOnly });
  const codec = await createRecordCodec({ registry, partitions, recordLimit });
  const signal = createAppendSignal(() => store.appendCount(), POLL_MS);

  const endOf = (topic: Topic, partition: number) => store.number(`end/${topic}/${partition}`);

  /** Within a transaction: gives every record its offset. */
  const put = (records: readonly EncodedRecord[]) => {
    if (records.length === 0) return [];
    const timestamp = Date.now();
    const positions = records.map((record) => {
      const offset = endOf(record.topic, record.partition);
      if (offset > LAST_OFFSET) throw new RangeError(`${record.topic}/${record.partition} is full`);
      store.putRecord(record.topic, recordKey(record.partition, offset), toStored(record, timestamp));
      store.putNumber(`end/${record.topic}/${record.partition}`, offset + 1);
      return { partition: record.partition, offset: BigInt(offset) };
    });
    store.putNumber('appends', store.number('appends') + 1);
    return positions;
  };

  return {
    partitions,
    registry,

    async append(records: readonly Outgoing[]) {
      const encoded = records.map(codec.encode);
      if (encoded.length === 0) return [];
      const positions = await store.transact(() => put(encoded));
      signal.notify();
      return positions;
    },

    async commit(consumer: string, outputs: readonly Outgoing[], moves: readonly OffsetMove[]) {
      const encoded = outputs.map(codec.encode);
      await store.transact(() => {
        for (const move of moves) {
          const key = consumerKey(consumer, move.topic, move.partition);
          const stored = BigInt(store.number(key));
          if (stored !== move.from) {
            throw new EspalierError(
              'E_LOG_CONFLICT',
              `${consumer} stands at ${stored} of ${move.topic}/${move.partition}, not at ${move.from}`,
            );
          }
          store.putNumber(key, Number(move.to));
        }
        put(encoded);
      });
      if (encoded.length > 0) signal.notify();
    },

    async committed(consumer, topic, partition) {
      store.refresh();
      return BigInt(store.number(consumerKey(consumer, topic, partition)));
    },

    async end(topic, partition) {
      store.refresh();
      return BigInt(endOf(topic, partition));
    },

    async read(topic, partition, from, limit, maxBytes = DEFAULT_MAX_BYTES) {
      store.refresh();
      const found: LogRecord[] = [];
      let bytes = 0;
      const range = store.range(
        topic,
        recordKey(partition, Number(from)),
        recordKey(partition + 1, 0),
        limit,
      );
      for (const { key, value } of range) {
        found.push(fromStored(topic, key, value));
        bytes += value.byteLength;
        if (bytes >= maxBytes) break;
      }
      await codec.prepare(found);
      return found;
    },

    waitForAppend: (since, timeoutMs) => signal.wait(since, timeoutMs),
    decode: (record) => codec.decode(record),

    async close() {
      signal.close();
      try {
        await store.close();
      } catch (cause) {
        throw dataDirWriteError(dir, cause);
      }
    },
  };
}

function consumerKey(consumer: string, topic: Topic, partition: number): string {
  return `consumer/${consumer}/${topic}/${partition}`;
}

/** Partition counts decide where a key lives, so the first opening fixes them for ever. */
async function fixPartitions(store: LmdbStore, options: LmdbLogOptions): Promise<number> {
  const wanted = options.partitions ?? null;
  if (store.number('partitions') === 0 && options.readOnly !== true) {
    await store.transact(() => {
      if (store.number('partitions') === 0) store.putNumber('partitions', wanted ?? DEFAULT_PARTITIONS);
    });
  }
  const stored = store.number('partitions') || DEFAULT_PARTITIONS;
  if (wanted !== null && wanted !== stored) {
    throw new EspalierError('E_LOG_PARTITIONS', `${options.dir} has ${stored} partitions, not ${wanted}`);
  }
  return stored;
}

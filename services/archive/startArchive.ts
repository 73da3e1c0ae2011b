import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventLog, LogRecord, OffsetMove } from '../../infra/log/eventLog.ts';
import type { CrashPoint } from '../../infra/process/crashPoint.ts';
import type { Warehouse } from '../../infra/warehouse/warehouse.ts';
import { TOPIC_NAMES, type Topic } from '../../schemas/topics.ts';
import { insertBlock } from './insertBlock.ts';

/** Rows of a block: large enough to insert well, small enough to hold in memory. */
const BLOCK_ROWS = 2000;
const BLOCK_BYTES = 32 * 1024 ** 2;
const LINGER_MS = 100;
const IDLE_MS = 1000;

/** The running archive. */
export interface Archive {
  /** Resolves when everything that stands in the log now can be queried. Rejects when the archive failed. */
  drain(): Promise<void>;
  /** Stops between two rounds; what is not archived yet is taken up at the next start. */
  close(): Promise<void>;
  /** Records archived and records that could not be decoded since the start. */
  counts(): { readonly records: number; readonly undecodable: number };
}

/** Options of the archive. */
export interface ArchiveOptions {
  readonly log: EventLog;
  readonly warehouse: Warehouse;
  /** How long records may gather before they are inserted, default 100 ms. */
  readonly lingerMs?: number;
  readonly crashPoint?: CrashPoint;
  /** Called once when the archive stops because of an error. */
  readonly onError?: (error: unknown) => void;
}

interface Block {
  readonly topic: Topic;
  readonly partition: number;
  readonly first: bigint;
  readonly end: bigint;
  readonly records: readonly LogRecord[];
}

/**
 * Copies every topic of the log into the warehouse, each record once. Before a block is inserted its
 * end is written durably as a second consumer's offset, the intent; after a crash exactly that block
 * is inserted again, under the tokens it had, and whatever of it was there already adds nothing.
 *
 * The offsets belong to the warehouse, by an id it carries: a new warehouse starts from the beginning
 * of the log, which is how it is rebuilt.
 */
export async function startArchive(options: ArchiveOptions): Promise<Archive> {
  const { log, warehouse, lingerMs = LINGER_MS, crashPoint = () => {}, onError = () => {} } = options;
  const id = await identityOf(warehouse);
  const [doneConsumer, intentConsumer] = [`archive:${id}`, `archive-intent:${id}`];
  const done = new Map<string, bigint>();
  const counts = { records: 0, undecodable: 0 };
  let closing = false;
  const stop = new AbortController();
  const stopped = once(stop.signal, 'abort').then(() => undefined);
  const waiters = new Set<() => void>();

  const insert = async (blocks: readonly Block[]) => {
    for (const block of blocks) {
      counts.undecodable += await insertBlock(log, warehouse, block.records);
      counts.records += block.records.length;
      await crashPoint('archive:after-insert');
    }
    await log.commit(doneConsumer, [], blocks.map(move));
    await crashPoint('archive:after-commit');
    for (const block of blocks) done.set(`${block.topic}/${block.partition}`, block.end);
    for (const check of [...waiters]) check();
  };

  /** Finds where it stands, and finishes the block that a crash interrupted. */
  const resume = async () => {
    const pending: Block[] = [];
    for (const [topic, partition] of streams(log)) {
      const first = await log.committed(doneConsumer, topic, partition);
      const end = await log.committed(intentConsumer, topic, partition);
      done.set(`${topic}/${partition}`, first);
      if (end > first) pending.push(await readExactly(log, topic, partition, first, end));
    }
    if (pending.length > 0) await insert(pending);
  };

  const round = async (): Promise<number> => {
    const blocks: Block[] = [];
    for (const [topic, partition] of streams(log)) {
      const first = done.get(`${topic}/${partition}`) ?? 0n;
      const records = await log.read(topic, partition, first, BLOCK_ROWS, BLOCK_BYTES);
      const last = records.at(-1);
      if (last !== undefined) blocks.push({ topic, partition, first, end: last.offset + 1n, records });
    }
    if (blocks.length === 0) return 0;
    await log.commit(intentConsumer, [], blocks.map(move));
    await crashPoint('archive:after-intent');
    await insert(blocks);
    return Math.max(...blocks.map((block) => block.records.length));
  };

  const run = async () => {
    let seen = 0;
    while (!closing) {
      const started = performance.now();
      const largest = await round();
      if (largest >= BLOCK_ROWS) continue;
      // As long as the last round took, at least: the archive never takes more than half the time.
      const pause = Math.max(lingerMs, performance.now() - started);
      await delay(pause, undefined, { signal: stop.signal }).catch(() => {});
      if (largest === 0 && !closing)
        seen = (await Promise.race([log.waitForAppend(seen, IDLE_MS), stopped])) ?? seen;
    }
  };

  await resume();
  let failure: { readonly error: unknown } | undefined;
  const running = run().catch((error) => {
    failure = { error };
    for (const check of [...waiters]) check();
    onError(error);
  });

  return {
    counts: () => ({ ...counts }),
    async drain() {
      const targets = await Promise.all(
        streams(log).map(async ([topic, p]) => [`${topic}/${p}`, await log.end(topic, p)] as const),
      );
      await new Promise<void>((resolve, reject) => {
        const check = () => {
          if (failure !== undefined) reject(failure.error);
          else if (!targets.every(([stream, end]) => (done.get(stream) ?? 0n) >= end)) return;
          else resolve();
          waiters.delete(check);
        };
        waiters.add(check);
        check();
      });
    },
    async close() {
      closing = true;
      stop.abort();
      await running;
    },
  };
}

const move = (block: Block): OffsetMove => ({
  topic: block.topic,
  partition: block.partition,
  from: block.first,
  to: block.end,
});

function streams(log: EventLog): (readonly [Topic, number])[] {
  return TOPIC_NAMES.flatMap((topic) =>
    Array.from({ length: log.partitions }, (_, partition) => [topic, partition] as const),
  );
}

async function readExactly(
  log: EventLog,
  topic: Topic,
  partition: number,
  first: bigint,
  end: bigint,
): Promise<Block> {
  const records: LogRecord[] = [];
  for (let at = first; at < end; at = (records.at(-1)?.offset ?? end) + 1n) {
    const part = await log.read(topic, partition, at, Number(end - at));
    if (part.length === 0) break;
    records.push(...part);
  }
  return { topic, partition, first, end, records };
}

async function identityOf(warehouse: Warehouse): Promise<string> {
  const read = async () => (await warehouse.query('SELECT min(id) AS id FROM archive_identity'))[0]?.id;
  const stored = await read();
  if (typeof stored === 'string' && stored !== '') return stored;
  await warehouse.insert('archive_identity', [{ id: randomUUID() }], 'identity');
  return String(await read());
}

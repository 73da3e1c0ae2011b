import { setTimeout as delay } from 'node:timers/promises';
import { EspalierError } from '../schemas/errors.ts';
import type { Topic } from '../schemas/topics.ts';
import type { EventLog, LogRecord, OffsetMove, Outgoing } from './log/eventLog.ts';
import type { CrashPoint, CrashPointName } from './process/crashPoint.ts';

/** A part of the pipeline between topics: what the runner needs to know of it. */
export interface Hop {
  /** Consumer name in the log, and prefix of its crash points. */
  readonly name: 'first-hop' | 'second-hop';
  readonly topics: readonly Topic[];
  /**
   * A topic that is read to its present end after the others were read, and handed over before them:
   * what the others refer to stands in it already.
   */
  readonly anchor?: Topic;
  /** A worker for one partition, with everything restored that is not replayed from the inputs. */
  open(partition: number, committed: ReadonlyMap<Topic, bigint>): Promise<HopWorker>;
}

/** The state of a hop in one partition. It has no side effects: the runner reads and writes. */
export interface HopWorker {
  /** Takes records, in order within their topic; returns what is to be appended for them. */
  process(records: readonly LogRecord[]): Promise<readonly Outgoing[]>;
  /** Offset of the oldest record of a topic that unfinished state still needs; null: none is. */
  needs(topic: Topic): bigint | null;
}

/** A running partition of a hop. */
export interface HopRun {
  /** Resolves when everything that stands in its inputs now was processed and committed. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

/** Bounds of what is held in memory at once. */
const BATCH_RECORDS = 256;
const BATCH_BYTES = 16 * 1024 ** 2;
/** Offsets without outputs are written this seldom: a restart reads these records again, harmlessly. */
const MOVE_AFTER_RECORDS = 256;
const IDLE_MS = 1000;

/** Options of a running partition. */
export interface HopRunOptions {
  readonly log: EventLog;
  readonly hop: Hop;
  readonly partition: number;
  readonly crashPoint?: CrashPoint;
  /** Called once when the hop stops because of an error. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs one partition of a hop exactly once: takes a bounded batch, runs it, and writes the outputs and
 * the offsets in one commit. Offsets are committed up to the oldest record that unfinished state still
 * needs, so a restart replays from there. When another owner committed in between, everything in
 * memory is thrown away and restored.
 */
export async function runHop(options: HopRunOptions): Promise<HopRun> {
  const { log, hop, partition, crashPoint = () => {}, onError = () => {} } = options;
  let closing = false;
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const waiters = new Set<() => void>();
  const notify = () => {
    for (const check of [...waiters]) check();
  };
  let state = await restore(log, hop, partition);

  const commit = async (outputs: readonly Outgoing[], force: boolean) => {
    const moves = movesOf(hop, partition, state);
    const lag = moves.reduce((sum, move) => sum + Number(move.to - move.from), 0);
    if (outputs.length === 0 && (moves.length === 0 || (!force && lag < MOVE_AFTER_RECORDS))) return;
    await crashPoint(`${hop.name}:before-commit` satisfies CrashPointName);
    await log.commit(hop.name, outputs, moves);
    await crashPoint(`${hop.name}:after-commit` satisfies CrashPointName);
    for (const move of moves) state.committed.set(move.topic, move.to);
  };

  /** One batch; false when there was nothing to read. */
  const advance = async (): Promise<boolean> => {
    const records = await take(log, hop, partition, state.positions);
    if (records.length === 0) return false;
    const outputs = await state.worker.process(records);
    for (const record of records) state.positions.set(record.topic, record.offset + 1n);
    await commit(outputs, false);
    notify();
    return true;
  };

  const run = async () => {
    let seen = 0;
    while (!closing) {
      try {
        while (!closing && (await advance()));
        if (!closing) seen = (await Promise.race([log.waitForAppend(seen, IDLE_MS), stopped])) ?? seen;
      } catch (cause) {
        if (!isConflict(cause)) throw cause;
        await delay(50);
        state = await restore(log, hop, partition);
        // The other owner may have gone through everything: then nothing is left to read.
        notify();
      }
    }
    await commit([], true).catch((cause) => {
      if (!isConflict(cause)) throw cause;
    });
  };
  let failure: { readonly error: unknown } | undefined;
  const running = run().catch((error) => {
    failure = { error };
    notify();
    onError(error);
  });

  return {
    async drained() {
      const targets = new Map<Topic, bigint>();
      for (const topic of hop.topics) targets.set(topic, await log.end(topic, partition));
      await new Promise<void>((resolve, reject) => {
        const check = () => {
          const behind = hop.topics.some((t) => (state.positions.get(t) ?? 0n) < (targets.get(t) ?? 0n));
          if (failure !== undefined) reject(failure.error);
          else if (behind) return;
          else resolve();
          waiters.delete(check);
        };
        waiters.add(check);
        check();
      });
    },
    async close() {
      closing = true;
      stop();
      await running;
    },
  };
}

const isConflict = (cause: unknown) => cause instanceof EspalierError && cause.code === 'E_LOG_CONFLICT';

interface RunState {
  readonly worker: HopWorker;
  /** Next offset to read. */
  readonly positions: Map<Topic, bigint>;
  readonly committed: Map<Topic, bigint>;
}

async function restore(log: EventLog, hop: Hop, partition: number): Promise<RunState> {
  const committed = new Map<Topic, bigint>();
  for (const topic of hop.topics) committed.set(topic, await log.committed(hop.name, topic, partition));
  const worker = await hop.open(partition, committed);
  return { worker, positions: new Map(committed), committed };
}

function movesOf(hop: Hop, partition: number, state: RunState): OffsetMove[] {
  const moves: OffsetMove[] = [];
  for (const topic of hop.topics) {
    const from = state.committed.get(topic) ?? 0n;
    const to = state.worker.needs(topic) ?? state.positions.get(topic) ?? 0n;
    if (to > from) moves.push({ topic, partition, from, to });
  }
  return moves;
}

/** A bounded batch of every topic, the anchor last and to its end; handed over anchor first. */
async function take(
  log: EventLog,
  hop: Hop,
  partition: number,
  positions: ReadonlyMap<Topic, bigint>,
): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (const topic of hop.topics) {
    if (topic === hop.anchor) continue;
    records.push(
      ...(await log.read(topic, partition, positions.get(topic) ?? 0n, BATCH_RECORDS, BATCH_BYTES)),
    );
  }
  if (hop.anchor === undefined) return records;
  const anchored: LogRecord[] = [];
  let at = positions.get(hop.anchor) ?? 0n;
  for (const end = await log.end(hop.anchor, partition); at < end; ) {
    const part = await log.read(hop.anchor, partition, at, BATCH_RECORDS, BATCH_BYTES);
    if (part.length === 0) break;
    anchored.push(...part);
    at = (part.at(-1)?.offset ?? at) + 1n;
  }
  return [...anchored, ...records];
}

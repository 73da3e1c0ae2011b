import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, open } from 'lmdb';
import { EspalierError } from '../../schemas/errors.ts';
import { TOPIC_NAMES, type Topic } from '../../schemas/topics.ts';
import { dataDirWriteError, ensureWritable, freeBytes } from '../process/ensureWritable.ts';
import type { RegisteredSchema, SchemaStore } from '../registry/embeddedRegistry.ts';
import { groupCommit } from './groupCommit.ts';

/**
 * Address space, not disk: the file grows with its content. Set well above 2 GiB and as a product,
 * since a 32-bit shift would give a negative size.
 */
const MAP_SIZE = 64 * 1024 ** 3;

/** Kept free, because the library reports a full disk late and in many words. */
const RESERVE = 16 * 1024 ** 2;

const CLOSE_MS = 500;

/** The tables of one LMDB environment, as far as the log needs them. */
export interface LmdbStore {
  readonly schemas: SchemaStore;
  /** Runs `body` atomically: when it throws nothing of it is kept. Resolves when durable. */
  transact<T>(body: () => T): Promise<T>;
  /** A named counter, 0 when it was never set. */
  number(key: string): number;
  putNumber(key: string, value: number): void;
  putRecord(topic: Topic, key: Buffer, value: Buffer): void;
  range(topic: Topic, start: Buffer, end: Buffer, limit: number): Iterable<{ key: Buffer; value: Buffer }>;
  /** Number of appending transactions of all processes so far. */
  appendCount(): number;
  /** Lets the next read see what other processes committed. */
  refresh(): void;
  close(): Promise<void>;
}

/** @throws EspalierError E_DATA_DIR_WRITE */
export function openLmdbStore(dir: string, readOnly: boolean): LmdbStore {
  if (readOnly && !existsSync(join(dir, 'data.mdb'))) {
    throw new EspalierError('E_DATA_DIR_WRITE', `${dir} holds no log`, {
      fix: 'Give the --data-dir of an earlier run.',
    });
  }
  if (!readOnly) ensureWritable(dir);
  const { env, numbers, schemas, topics } = openTables(dir, readOnly);

  let broken = false;
  const transact = groupCommit(env, {
    before() {
      if (freeBytes(dir) < RESERVE)
        throw dataDirWriteError(dir, new Error('the disk is full (less than 16 MiB are free)'));
    },
    asError(cause) {
      broken = true;
      return dataDirWriteError(dir, cause);
    },
  });

  return {
    transact,
    number: (key) => numbers.get(key) ?? 0,
    putNumber: (key, value) => void numbers.put(key, value),
    putRecord: (topic, key, value) => void topics.get(topic)?.put(key, value),
    range: (topic, start, end, limit) => topics.get(topic)?.getRange({ start, end, limit }) ?? [],
    appendCount() {
      env.resetReadTxn();
      return numbers.get('appends') ?? 0;
    },
    refresh: () => env.resetReadTxn(),
    schemas: {
      get: (id) => schemas.get(id),
      all: () => [...schemas.getRange()].map(({ value }) => value),
      put: (id, schema) => transact(() => void schemas.put(id, schema)),
    },
    // After a failed commit the library waits for a flush that never comes.
    close: () => (broken ? Promise.race([env.close(), delay(CLOSE_MS)]) : env.close()),
  };
}

function openTables(dir: string, readOnly: boolean) {
  try {
    // Groups of writes are made by groupCommit; the library's own grouping leaves a failed commit unhandled.
    const env = open({
      path: dir,
      noSubdir: false,
      mapSize: MAP_SIZE,
      maxDbs: 32,
      maxReaders: 256,
      readOnly,
      eventTurnBatching: false,
    });
    // Readers that were killed would hold old pages for ever.
    env.readerCheck();
    const topics = new Map<Topic, Database<Buffer, Buffer>>();
    for (const name of TOPIC_NAMES) {
      topics.set(name, env.openDB({ name: `topic/${name}`, keyEncoding: 'binary', encoding: 'binary' }));
    }
    const numbers: Database<number, string> = env.openDB({ name: 'numbers' });
    const schemas: Database<RegisteredSchema, number> = env.openDB({ name: 'schemas', encoding: 'json' });
    return { env, numbers, schemas, topics };
  } catch (cause) {
    throw dataDirWriteError(dir, cause);
  }
}

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { EspalierError } from '../../schemas/errors.ts';

/** With less than this a disk counts as full. */
const FULL = 1024 ** 2;

/**
 * Creates a folder if need be and proves that a file can be written and synced in it: storage
 * engines report a full or read-only folder late, and some of them hang on it.
 * @throws EspalierError E_DATA_DIR_WRITE
 */
export function ensureWritable(dir: string): void {
  const probe = join(dir, `.probe-${process.pid}-${process.hrtime.bigint()}`);
  try {
    makeFolder(dir);
    const file = openSync(probe, 'wx');
    try {
      // More than one block: an empty file can be created on a full disk.
      writeSync(file, Buffer.alloc(16_384));
      fsyncSync(file);
    } finally {
      closeSync(file);
      rmSync(probe, { force: true });
    }
  } catch (cause) {
    throw dataDirWriteError(dir, cause);
  }
}

/** Like `mkdir -p`, but where that cannot be it says why: Node's own calls a read-only disk a missing folder. */
function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (cause) {
    const parent = dirname(resolve(dir));
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(parent)) mkdirSync(dir);
    throw cause;
  }
}

/** The one error for a folder that cannot be written. */
export function dataDirWriteError(dir: string, cause: unknown): EspalierError {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const full = code === 'ENOSPC' || freeBytes(dir) < FULL;
  const why = full ? 'the disk is full' : cause instanceof Error ? cause.message : String(cause);
  return new EspalierError('E_DATA_DIR_WRITE', `cannot write to ${dir}: ${why}`, { cause });
}

/** Bytes that can still be written where a folder is; infinite when that cannot be told. */
export function freeBytes(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

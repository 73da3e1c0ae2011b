import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EspalierError } from '../../schemas/errors.ts';
import { dataDirWriteError } from './ensureWritable.ts';
import { processStart } from './processStart.ts';

/** Who owns a data folder. */
export interface Owner {
  readonly pid: number;
  /** See `processStart`: tells this process from a later one with the same id. */
  readonly startTime: string;
  /** Unix socket on which the owner answers other commands. */
  readonly socket: string;
}

/** The live owner of a data folder; null when there is none or the one on record is gone. */
export function findOwner(dir: string): Owner | null {
  const owner = readOwner(join(dir, 'owner.json'));
  return owner !== null && processStart(owner.pid) === owner.startTime ? owner : null;
}

/**
 * Makes this process the owner of a folder; the returned function gives it up.
 * @throws EspalierError E_DATA_DIR_OWNED, E_DATA_DIR_WRITE
 */
export function claimFolder(dir: string, socket: string): () => void {
  const path = join(dir, 'owner.json');
  const mine: Owner = { pid: process.pid, startTime: processStart(process.pid) ?? '', socket };
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify(mine)}\n`, { mode: 0o600 });
    while (!linked(draft, path)) {
      const owner = findOwner(dir);
      if (owner !== null) {
        throw new EspalierError('E_DATA_DIR_OWNED', `${dir} is in use by process ${owner.pid}`);
      }
      removeStale(path);
    }
  } catch (cause) {
    throw cause instanceof EspalierError ? cause : dataDirWriteError(dir, cause);
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (readOwner(path)?.startTime === mine.startTime) rmSync(path, { force: true });
  };
}

/** Linking fails when the name exists, so of two processes that claim at once one wins. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  }
}

/** Takes the record of a dead owner away; should it meanwhile be that of a live one, puts it back. */
function removeStale(path: string): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw cause;
  }
  const owner = readOwner(aside);
  if (owner !== null && processStart(owner.pid) === owner.startTime) linked(aside, path);
  rmSync(aside, { force: true });
}

function readOwner(path: string): Owner | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    return null;
  }
}

import { chmod, lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError } from '../../../schemas/errors.ts';
import { type ArchiveEntry, findLinkProblem, findPathProblem } from './archiveEntry.ts';
import { encodeTar } from './tarFormat.ts';

/** Default cap of an archive's file content: 64 MiB. */
export const defaultArchiveBytes = 64 * 2 ** 20;

/** Most entries of one archive. */
export const mostArchiveEntries = 100_000;

export interface PackedDirectory {
  readonly bytes: Uint8Array;
  /** What was left out, with the reason: sockets, devices, links that lead outside, unreadable names. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Packs a directory into one deterministic archive: sorted paths, no times or owners, the execute bit the only mode.
 * What cannot be packed is listed, not thrown: an agent must not be able to prevent its own verification.
 * @throws EspalierError E_WORKSPACE when the content exceeds `maxBytes` or there are too many entries
 */
export async function packDirectory(root: string, maxBytes = defaultArchiveBytes): Promise<PackedDirectory> {
  const entries: ArchiveEntry[] = [];
  const skipped: { path: string; reason: string }[] = [];
  let room = maxBytes;

  async function visit(relative: string): Promise<void> {
    const names = await readOwn(() => readdir(join(root, relative)), join(root, relative), 0o700);
    for (const name of names.sort()) {
      const path = relative === '' ? name : `${relative}/${name}`;
      const reason = findPathProblem(path) ?? (await add(path).catch(explain));
      if (reason !== undefined) skipped.push({ path, reason });
    }
  }

  async function add(path: string): Promise<string | undefined> {
    const full = join(root, path);
    const stats = await lstat(full);
    if (entries.length >= mostArchiveEntries) throw tooLarge(root, `more than ${mostArchiveEntries} entries`);
    if (stats.isDirectory()) {
      entries.push({ kind: 'directory', path });
      await visit(path);
      return undefined;
    }
    if (stats.isSymbolicLink()) {
      const target = await readlink(full);
      const problem = findLinkProblem(path, target);
      if (problem === undefined) entries.push({ kind: 'symlink', path, target });
      return problem;
    }
    if (!stats.isFile()) return 'it is no file, directory or link';
    room -= stats.size;
    if (room < 0) throw tooLarge(root, `more than ${maxBytes} bytes`);
    const bytes = await readOwn(() => readFile(full), full, 0o600);
    entries.push({ kind: 'file', path, executable: (stats.mode & 0o100) !== 0, bytes });
    return undefined;
  }

  await visit('');
  return { bytes: encodeTar(entries), skipped };
}

// A file of our own may have been made unreadable; its mode is ours to change.
async function readOwn<T>(read: () => Promise<T>, path: string, mode: number): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    await chmod(path, mode);
    return read();
  }
}

function explain(error: unknown): string {
  if (error instanceof EspalierError) throw error;
  return error instanceof Error ? error.message : String(error);
}

function tooLarge(root: string, what: string): EspalierError {
  return new EspalierError('E_WORKSPACE', `${root} is too large to be archived: ${what}`);
}

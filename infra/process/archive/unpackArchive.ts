import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EspalierError } from '../../../schemas/errors.ts';
import { type ArchiveEntry, findLinkProblem, findPathProblem } from './archiveEntry.ts';
import { decodeTar } from './tarFormat.ts';

/**
 * Unpacks an archive into a directory that is empty or does not exist yet. Every entry is checked before the
 * first is written, and links are made last, so nothing can be written through one.
 * @throws EspalierError E_WORKSPACE for a damaged archive or an entry that would leave the directory
 */
export async function unpackArchive(archive: Uint8Array, directory: string): Promise<void> {
  const entries = decodeTar(archive);
  checkEntries(entries);
  await mkdir(directory, { recursive: true });
  const links: Extract<ArchiveEntry, { kind: 'symlink' }>[] = [];
  for (const entry of entries) {
    const full = join(directory, entry.path);
    if (entry.kind === 'directory') await mkdir(full, { recursive: true });
    else if (entry.kind === 'symlink') links.push(entry);
    else {
      await mkdir(dirname(full), { recursive: true });
      await writeFile(full, entry.bytes, { mode: entry.executable ? 0o755 : 0o644, flag: 'wx' });
    }
  }
  for (const link of links) {
    const full = join(directory, link.path);
    await mkdir(dirname(full), { recursive: true });
    await symlink(link.target, full);
  }
}

function checkEntries(entries: readonly ArchiveEntry[]): void {
  const kinds = new Map<string, ArchiveEntry['kind']>();
  for (const entry of entries) {
    const problem =
      findPathProblem(entry.path) ??
      (entry.kind === 'symlink' ? findLinkProblem(entry.path, entry.target) : undefined) ??
      (kinds.has(entry.path) ? 'it occurs twice' : undefined);
    if (problem !== undefined) throw refuse(entry.path, problem);
    kinds.set(entry.path, entry.kind);
  }
  for (const { path } of entries) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const parent = kinds.get(path.slice(0, at));
      if (parent !== undefined && parent !== 'directory') throw refuse(path, `its parent is a ${parent}`);
    }
  }
}

function refuse(path: string, why: string): EspalierError {
  return new EspalierError('E_WORKSPACE', `the archive entry ${JSON.stringify(path)} is refused: ${why}`);
}

import { join } from 'node:path';
import { stringify } from 'yaml';
import { EspalierError } from '../../../schemas/errors.ts';
import type { ArchiveEntry } from '../archive/archiveEntry.ts';
import { packDirectory } from '../archive/packDirectory.ts';
import { decodeTar, encodeTar } from '../archive/tarFormat.ts';
import { unpackArchive } from '../archive/unpackArchive.ts';
import { loadTask } from './loadTask.ts';
import type { Task } from './task.ts';

/**
 * Packs a task into one deterministic archive: task.yaml with every default written out, workspace/ and grader/.
 * Equal tasks give equal bytes, wherever they lie.
 * @throws EspalierError E_WORKSPACE when a folder is too large or holds what an archive cannot
 */
export async function packTask(task: Task): Promise<Uint8Array> {
  const { command, files, timeoutSeconds, exitCode, criteria, pass } = task.verifier;
  const text = stringify({
    version: 1,
    id: task.id,
    instruction: task.instruction,
    verifier: { command, timeoutSeconds, exitCode, ...(criteria === null ? {} : { criteria }), pass },
    ...(Object.keys(task.limits).length > 0 ? { limits: task.limits } : {}),
  });
  return encodeTar([
    { kind: 'file', path: 'task.yaml', executable: false, bytes: new TextEncoder().encode(text) },
    ...(await packFolder('grader', files)),
    ...(await packFolder('workspace', task.workspace)),
  ]);
}

/**
 * Unpacks an archive of packTask into `directory` and checks it.
 * @throws EspalierError E_WORKSPACE or E_TASK_INVALID
 */
export async function unpackTask(archive: Uint8Array, directory: string): Promise<Task> {
  await unpackArchive(archive, directory);
  return loadTask(directory);
}

async function packFolder(name: string, folder: string | null): Promise<ArchiveEntry[]> {
  if (folder === null) return [];
  const packed = await packDirectory(folder);
  const first = packed.skipped[0];
  if (first !== undefined) {
    const message = `${join(folder, first.path)} cannot be part of a task: ${first.reason}`;
    throw new EspalierError('E_WORKSPACE', message, { fix: 'Remove it from the task.' });
  }
  const inside = decodeTar(packed.bytes).map((entry) => ({ ...entry, path: `${name}/${entry.path}` }));
  return [{ kind: 'directory', path: name }, ...inside];
}

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { EspalierError } from '../../../schemas/errors.ts';
import { checkTaskFile } from './checkTaskFile.ts';
import type { Task } from './task.ts';

/**
 * Reads and checks the task in a folder that holds a task.yaml.
 * @throws EspalierError E_TASK_MISSING when there is none, E_TASK_INVALID naming file and field
 */
export function loadTask(directory: string): Task {
  const root = resolve(directory);
  const file = join(root, 'task.yaml');
  if (!existsSync(root)) throw new EspalierError('E_TASK_MISSING', `${root} does not exist`);
  if (!existsSync(file)) throw new EspalierError('E_TASK_MISSING', `${root} holds no task.yaml`);
  const task = checkTaskFile(readFileSync(file, 'utf8'), file);
  const { verifier } = task;
  const files = findFolder(root, file, 'verifier.files', verifier.files, 'grader');
  if (verifier.script !== undefined) checkScript(root, file, files, verifier.script);
  return {
    id: task.id ?? defaultId(root, file),
    instruction: task.instruction.trim(),
    workspace: findFolder(root, file, 'workspace', task.workspace, 'workspace'),
    verifier: {
      command: verifier.command ?? ['/bin/sh', `./${verifier.script ?? ''}`],
      files,
      timeoutSeconds: verifier.timeoutSeconds ?? 60,
      exitCode: verifier.exitCode ?? false,
      criteria: verifier.criteria ?? null,
      pass: verifier.pass ?? 1,
    },
    limits: task.limits ?? {},
  };
}

// A default folder may be absent; one that was named may not.
function findFolder(
  root: string,
  file: string,
  field: string,
  named: string | undefined,
  fallback: string,
): string | null {
  const path = resolve(root, named ?? fallback);
  if (named === undefined && !existsSync(path)) return null;
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw invalid(`${file}: ${field} is no folder: ${path}`, `Make the folder, or correct ${field}.`);
  }
  if (!isInside(root, path) || realpathSync(path) === realpathSync(root)) {
    throw invalid(
      `${file}: ${field} must be a folder inside ${root}`,
      'Move the files into the task folder.',
    );
  }
  return path;
}

function checkScript(root: string, file: string, files: string | null, script: string): void {
  const path = resolve(files ?? join(root, 'grader'), script);
  if (files === null || !existsSync(path) || !isInside(files, path)) {
    throw invalid(`${file}: verifier.script is not among the grader files: ${path}`, 'Put the script there.');
  }
}

function isInside(root: string, path: string): boolean {
  return (
    realpathSync(path).startsWith(`${realpathSync(root)}${sep}`) || realpathSync(path) === realpathSync(root)
  );
}

function defaultId(root: string, file: string): string {
  const id = basename(root);
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return id;
  throw invalid(
    `${file}: the folder's name is no task id`,
    'Add an id of letters, digits, ".", "_" and "-".',
  );
}

function invalid(message: string, fix: string): EspalierError {
  return new EspalierError('E_TASK_INVALID', message, { fix });
}

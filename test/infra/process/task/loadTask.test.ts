import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { loadTask } from '../../../../infra/process/task/loadTask.ts';
import { packTask, unpackTask } from '../../../../infra/process/task/packTask.ts';
import { EspalierError } from '../../../../schemas/errors.ts';
import { makeFolder } from '../../../support/runHarness.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function taskFolder(yaml: string, files: Record<string, string> = { 'grader/check.sh': 'echo 1' }): string {
  const folder = makeFolder();
  cleanups.push(folder.remove);
  const task = join(folder.path, 'my-task');
  for (const [name, text] of Object.entries({ 'task.yaml': yaml, ...files })) {
    mkdirSync(dirname(join(task, name)), { recursive: true });
    writeFileSync(join(task, name), text);
  }
  return task;
}

const minimal = 'version: 1\ninstruction: Do it.\nverifier: {script: check.sh}\n';

function failure(yaml: string, files?: Record<string, string>): EspalierError {
  try {
    loadTask(taskFolder(yaml, files));
  } catch (error) {
    if (error instanceof EspalierError) return error;
  }
  throw new Error('no EspalierError');
}

describe('loadTask', () => {
  it('fills the defaults', () => {
    const directory = taskFolder(minimal);
    expect(loadTask(directory)).toEqual({
      id: 'my-task',
      instruction: 'Do it.',
      workspace: null,
      verifier: {
        command: ['/bin/sh', './check.sh'],
        files: join(directory, 'grader'),
        timeoutSeconds: 60,
        exitCode: false,
        criteria: null,
        pass: 1,
      },
      limits: {},
    });
  });

  it.each([
    ['version: 2\ninstruction: x\nverifier: {script: check.sh}', 'version must be 1', 'always 1'],
    ['version: 1\nverifier: {script: check.sh}', 'instruction is missing', 'Add instruction'],
    [`${minimal}instrution: x`, 'instrution is not a known field', 'known here: version, id, instruction'],
    ['version: 1\ninstruction: x\nverifier: {}', 'exactly one of command and script', 'script: check.sh'],
    ['version: 1\ninstruction: x\nverifier: {script: a, command: [b]}', 'exactly one of', 'script: check.sh'],
    [
      'version: 1\ninstruction: x\nverifier: {script: no.sh}',
      'verifier.script is not among',
      'Put the script',
    ],
    [
      'version: 1\ninstruction: x\nverifier: {command: [true, 1]}',
      'verifier.command.0 must be string',
      'Correct',
    ],
    [
      'version: 1\ninstruction: x\nverifier: {script: check.sh, timeoutSeconds: 0}',
      'timeoutSeconds must be > 0',
      '60',
    ],
    [
      'version: 1\ninstruction: x\nverifier: {script: check.sh, criteria: {a: -1}}',
      'criteria.a must be > 0',
      'a',
    ],
    [`${minimal}workspace: nowhere`, 'workspace is no folder', 'Make the folder'],
    [`${minimal}workspace: ..`, 'must be a folder inside', 'Move the files'],
    ['version: 1\ninstruction: "x', 'line 2', 'Correct the YAML'],
    ['', 'the file must be object', ''],
    ['version: 1\ninstruction: " "\nverifier: {script: check.sh}', 'instruction must match', 'asked to do'],
  ])('names file, field and fix: %j', (yaml, message, fix) => {
    const error = failure(yaml);
    expect(error.code).toBe('E_TASK_INVALID');
    expect(error.message).toContain('task.yaml');
    expect(error.message).toContain(message);
    expect(error.fix).toContain(fix);
  });

  it('says what is missing', () => {
    expect(() => loadTask('/no/such/task')).toThrow(/does not exist/);
    expect(() => loadTask(dirname(taskFolder(minimal)))).toThrow(/holds no task.yaml/);
  });

  it('packs to the same bytes wherever it lies, and unpacks to the same task', async () => {
    const files = { 'grader/check.sh': 'echo 1', 'workspace/a/b.txt': 'x' };
    const yaml = `id: one\n${minimal}limits: {wallSeconds: 5}\n`;
    const task = loadTask(taskFolder(yaml, files));
    const archive = await packTask(task);
    const moved = taskFolder(yaml, files);
    const again = await packTask(loadTask(moved));
    expect(Buffer.compare(archive, again)).toBe(0);
    const to = join(moved, 'unpacked');
    const unpacked = await unpackTask(archive, to);
    expect(unpacked).toEqual({
      ...task,
      workspace: join(to, 'workspace'),
      verifier: { ...task.verifier, files: join(to, 'grader') },
    });
    expect(Buffer.compare(await packTask(unpacked), archive)).toBe(0);
  });

  it.each(['find-code', 'sum-numbers'])('reads the example %s', (name) => {
    const task = loadTask(fileURLToPath(new URL(`../../../../docs/examples/tasks/${name}`, import.meta.url)));
    expect(task.id).toBe(name);
  });
});

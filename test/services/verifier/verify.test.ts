import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { packDirectory } from '../../../infra/process/archive/packDirectory.ts';
import type { Isolation } from '../../../infra/process/sandbox/containment.ts';
import { probeBubblewrap } from '../../../infra/process/sandbox/probeBubblewrap.ts';
import { loadTask } from '../../../infra/process/task/loadTask.ts';
import { verify } from '../../../services/verifier/verify.ts';
import { makeFolder } from '../../support/runHarness.ts';

const probe = await probeBubblewrap();
if (!probe.ok) process.stderr.write(`skipped: verification in bubblewrap (${probe.reason})\n`);

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function folder(files: Record<string, string> = {}): string {
  const made = makeFolder(files);
  cleanups.push(made.remove);
  return made.path;
}

const archive = async (files: Record<string, string>) => (await packDirectory(folder(files))).bytes;

function taskWith(script: string, verifier = ''): ReturnType<typeof loadTask> {
  const root = join(folder(), 'task');
  for (const name of ['workspace', 'grader']) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(
    join(root, 'task.yaml'),
    `version: 1\ninstruction: x\nverifier: {script: check.sh${verifier}}\n`,
  );
  writeFileSync(join(root, 'grader/check.sh'), script);
  writeFileSync(join(root, 'workspace/state'), 'untouched');
  return loadTask(root);
}

function grade(
  task: ReturnType<typeof loadTask>,
  workspaceArchive: Uint8Array | null,
  isolation: Isolation = 'process',
) {
  const scratchDir = folder();
  return verify({ task, workspaceArchive, isolation, scratchDir, leaseDir: folder() }).finally(() => {
    expect(readdirSync(scratchDir)).toEqual([]);
  });
}

describe('verify', () => {
  const example = (name: string) =>
    loadTask(fileURLToPath(new URL(`../../../docs/examples/tasks/${name}`, import.meta.url)));

  it.each([
    [{}, 0],
    [{ 'answer.txt': 'nothing' }, 0.2],
    [{ 'answer.txt': '' }, 0.2],
    [{ 'answer.txt': 'dako puva' }, 0.2],
    [{ 'answer.txt': 'code:' }, 0.2],
    [{ 'answer.txt': ' puva\n' }, 0.5],
    [{ 'answer.txt': '\n dako \n\n', 'kelo.txt': 'code: x' }, 1],
  ])('grades find-code: %j', async (files: Record<string, string>, reward) => {
    const result = await grade(example('find-code'), await archive(files));
    expect(result).toMatchObject({ kind: 'reward', reward, passed: reward === 1, flagged: null });
  });

  it.each([
    [{}, 0],
    [{ 'sum.txt': '166' }, 1],
    [{ 'sum.txt': '165\n' }, 0.2],
    [{ 'sum.txt': 'the sum' }, 0],
  ])('grades sum-numbers: %j', async (files: Record<string, string>, reward) => {
    expect(await grade(example('sum-numbers'), await archive(files))).toMatchObject({
      kind: 'reward',
      reward,
    });
  });

  it.runIf(probe.ok)('grades in bubblewrap', async () => {
    const files = await archive({ 'answer.txt': 'dako' });
    expect(await grade(example('find-code'), files, 'bubblewrap')).toMatchObject({ reward: 1, passed: true });
  });

  // A grader that fails on everything but the untouched workspace, in each way a grader can fail.
  const breakage: [string, string][] = [
    ['exit 3', 'exit code 3'],
    ['kill -9 $$', 'signal'],
    ['echo oops', 'no number'],
    ['echo NaN', 'no number'],
    ['echo 7', 'outside 0 to 1'],
    ['echo { > "$OUT/reward.json"', 'no JSON'],
    ['sleep 30', 'did not end within 0.3 s'],
  ];
  it.each(breakage)('flags files that break the grader: %s', async (failure, reason) => {
    const script = `read -r s < "$WORKSPACE/state"\nif [ "$s" = untouched ]; then echo 0; else ${failure}; fi`;
    const task = taskWith(script, ', timeoutSeconds: 0.3');
    expect(await grade(task, await archive({ state: 'broken\n' }))).toEqual({
      kind: 'reward',
      reward: 0,
      criteria: null,
      passed: false,
      flagged: expect.stringContaining(reason),
    });
  });

  it.each(breakage)(
    'fails when the grader fails on the untouched workspace too: %s',
    async (failure, reason) => {
      const result = await grade(taskWith(failure, ', timeoutSeconds: 0.3'), await archive({}));
      expect(result).toEqual({ kind: 'failed', reason: expect.stringContaining(reason) });
    },
  );

  it('accepts the second run of a grader that failed once', async () => {
    const counter = join(folder(), 'runs');
    const task = taskWith(`echo x >> ${counter}\n[ "$(wc -l < ${counter})" -gt 1 ] && echo 0.75`);
    expect(await grade(task, await archive({}))).toMatchObject({
      kind: 'reward',
      reward: 0.75,
      flagged: null,
    });
  });

  it('gives a flagged reward where the workspace could not be packed', async () => {
    expect(await grade(taskWith('echo 1'), null)).toMatchObject({ reward: 0, flagged: expect.any(String) });
  });

  it('runs the grader where the agent never was, with its own files', async () => {
    const task = taskWith(
      'pwd -P >&2; [ "$(pwd -P)" = "$(cd "$GRADER"; pwd -P)" ] && [ ! -e "$WORKSPACE/check.sh" ] && echo 1',
    );
    expect(await grade(task, await archive({}))).toMatchObject({ reward: 1 });
  });

  it('throws on a damaged archive and on an interruption, which are no verdicts', async () => {
    await expect(grade(taskWith('echo 1'), new Uint8Array(700))).rejects.toMatchObject({
      code: 'E_WORKSPACE',
    });
    const options = {
      task: taskWith('sleep 9'),
      workspaceArchive: await archive({}),
      isolation: 'process' as const,
    };
    const signal = AbortSignal.timeout(100);
    const running = verify({ ...options, scratchDir: folder(), leaseDir: folder(), signal });
    await expect(running).rejects.toMatchObject({ code: 'E_INTERRUPTED' });
  });
});

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/checkRuns.ts';
import { leftAfter, runEspalier, SMALL, startEspalier } from '../support/demoProcess.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

// What a person can do wrong: one clear line, one line on what to do, and the exit code of the table.
const folder = temporaryFolder();
afterAll(() => folder.remove(), 60_000);
const place = (...parts: string[]) => join(folder.path, ...parts);

async function expectError(args: readonly string[], code: string, exit: number, text: string): Promise<void> {
  const people = await runEspalier(args);
  const program = await runEspalier([...args, '--json']);
  expect([people.code, people.stdout], people.stderr).toEqual([exit, '']);
  expect(people.stderr).toMatch(/^error: [^\n]+\nfix: [^\n]+\n$/);
  expect(people.stderr).toContain(text);
  expect(program.code).toBe(exit);
  expect(JSON.parse(program.stdout)).toMatchObject({ error: { code } });
}

describe('misuse', () => {
  it('a data folder of another version', async () => {
    mkdirSync(place('version'));
    writeFileSync(place('version', 'format.json'), '{"version":99}');
    await expectError(['demo', '--data-dir', place('version')], 'E_DATA_DIR_VERSION', 2, 'has version 99');
  });

  it('a port in use, and one that cannot be', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = String((server.address() as AddressInfo).port);
    await expectError(['engine', 'tiny', '--port', port], 'E_PORT_IN_USE', 3, port);
    server.close();
    await expectError(['engine', 'tiny', '--port', '99999'], 'E_USAGE', 2, '65535');
  });

  it('a missing task, a broken one, a harness that is unknown or not installed', async () => {
    const run = (task: string, harness: string) => [
      'rollout',
      'run',
      '--task',
      place(task),
      '--harness',
      harness,
      '--data-dir',
      place('data'),
    ];
    mkdirSync(place('broken'));
    writeFileSync(place('broken', 'task.yaml'), 'version: 1\nid: [\n');
    mkdirSync(place('good', 'grader'), { recursive: true });
    writeFileSync(place('good', 'grader', 'grade.sh'), 'exit 0\n');
    writeFileSync(
      place('good', 'task.yaml'),
      'version: 1\nid: good\ninstruction: Nothing.\nverifier:\n  script: grade.sh\n',
    );
    await expectError(run('none', 'alder'), 'E_TASK_MISSING', 2, place('none'));
    await expectError(run('broken', 'alder'), 'E_TASK_INVALID', 2, 'task.yaml, line');
    await expectError(run('good', 'oak'), 'E_HARNESS_UNKNOWN', 2, '"oak"');
    await expectError(run('good', 'codex'), 'E_HARNESS_MISSING', 3, 'not installed');
    await expectError(['demo', '--data-dir', place('data'), '--harness', 'pi'], 'E_HARNESS_MISSING', 3, 'pi');
  });
});

/** Runs a command with a small disk of its own at a folder; null where that is not allowed here. */
function onDisk(options: string, prepare: string, args: readonly string[]) {
  const dir = place('disk');
  mkdirSync(dir, { recursive: true });
  const mount = `mount -t tmpfs -o ${options} tmpfs '${dir}'`;
  if (spawnSync('unshare', ['-rm', 'sh', '-c', mount]).status !== 0) return null;
  const program = join(import.meta.dirname, '../../services/cli/espalier.js');
  return spawnSync(
    'unshare',
    ['-rm', 'sh', '-c', `${mount}; ${prepare}; exec "$@"`, 'sh', process.execPath, program, ...args],
    { encoding: 'utf8' },
  );
}

describe('a data folder that cannot be written', () => {
  const demo = ['demo', '--data-dir', place('disk', 'data'), ...SMALL];

  it('a full one', ({ skip }) => {
    const ended = onDisk('size=2m', `head -c 4m /dev/zero > '${place('disk', 'fill')}' 2>/dev/null`, demo);
    if (ended === null) return skip('no disk can be mounted here (unshare -rm, tmpfs)');
    expect(ended.status, ended.stdout).toBe(3);
    expect(ended.stderr).toMatch(/^error: cannot write to [^\n]+: the disk is full[^\n]*\nfix: [^\n]+\n$/);
  });

  it('a read-only one', ({ skip }) => {
    const ended = onDisk('ro', 'true', demo);
    if (ended !== null) {
      expect([ended.status, ended.stdout], ended.stderr).toEqual([3, '']);
      expect(ended.stderr).toMatch(/^error: cannot write to [^\n]+read-only[^\n]*\nfix: [^\n]+\n$/);
      return;
    }
    if (process.getuid?.() === 0) return skip('root can write everywhere and no disk can be mounted here');
    mkdirSync(place('locked'));
    chmodSync(place('locked'), 0o555);
    return expectError(['demo', '--data-dir', place('locked')], 'E_DATA_DIR_WRITE', 3, 'cannot write');
  });
});

describe.skipIf(process.platform !== 'linux')('demos side by side', () => {
  it('two in two folders; none beside a live owner; SIGINT leaves nothing and the command goes on', async () => {
    const [one, two] = [place('one'), place('two')];
    mkdirSync(one);
    mkdirSync(two);
    const demo = (dir: string) => ['demo', '--data-dir', join(dir, 'data'), ...SMALL];
    const first = startEspalier(demo(one), { HOME: one });
    const second = startEspalier([...demo(two), '--json'], { HOME: two });
    await first.said('Starting run');
    await expectError(demo(one), 'E_DATA_DIR_OWNED', 3, `process ${first.process.pid}`);

    await first.said('policy 0 is ready');
    first.process.kill('SIGINT');
    const interrupted = await first.ended;
    expect(interrupted.code, interrupted.stderr).toBe(130);
    expect(interrupted.stderr).toMatch(/error: run \S+ was interrupted\nfix: [^\n]+\n$/);
    expect(await leftAfter(one, 1000)).toEqual([]);

    const resumed = await runEspalier(demo(one), { HOME: one });
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.stdout).toContain('Going on with run');
    const other = await second.ended;
    expect(other.code, other.stderr).toBe(0);
    for (const dir of [one, two]) {
      expect(await faultsOf(join(dir, 'data'))).toEqual([]);
      expect(await leftAfter(dir, 1000)).toEqual([]);
    }
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ContainedOptions, Isolation } from '../../../../infra/process/sandbox/containment.ts';
import { probeBubblewrap } from '../../../../infra/process/sandbox/probeBubblewrap.ts';
import { runContained } from '../../../../infra/process/sandbox/runContained.ts';
import { makeFolder } from '../../../support/runHarness.ts';

const probe = await probeBubblewrap();
if (!probe.ok) process.stderr.write(`skipped: contained runs in bubblewrap (${probe.reason})\n`);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const modes: [Isolation, boolean][] = [
  ['process', true],
  ['bubblewrap', probe.ok],
];

describe.each(modes)('runContained (%s)', (isolation, available) => {
  const test = available ? it : it.skip;

  function run(script: string, more: Partial<ContainedOptions> = {}) {
    const folder = makeFolder();
    const home = makeFolder();
    cleanups.push(folder.remove, home.remove);
    return {
      folder: folder.path,
      home: home.path,
      done: runContained({
        argv: ['/bin/sh', '-c', script],
        cwd: folder.path,
        home: home.path,
        isolation,
        limits: { wallMs: 10_000, graceMs: 200 },
        leaseDir: join(home.path, 'leases'),
        ...more,
      }),
    };
  }

  test('returns exit code, output tails and a clean environment', async () => {
    const { folder, home, done } = run('env | sort; pwd; echo oops >&2; echo x > made; exit 7', {
      env: { GIVEN: '1' },
    });
    const result = await done;
    expect(result).toMatchObject({
      exitCode: 7,
      signal: null,
      timedOut: false,
      aborted: false,
      exceeded: null,
    });
    expect(result.stderrTail).toBe('oops\n');
    const names = result.stdoutTail.match(/^\w+(?==)/gm);
    expect(names?.filter((name) => !['PWD', 'OLDPWD', '_', 'SHLVL'].includes(name))).toEqual([
      'GIVEN',
      'HOME',
      'LANG',
      'PATH',
      'SANDBOX_MARK',
    ]);
    expect(result.stdoutTail).toContain(folder);
    expect(existsSync(join(folder, 'made'))).toBe(true);
    expect(readdirSync(join(home, 'leases'))).toEqual([]);
  });

  test('ends what ignores SIGTERM', async () => {
    const { done } = run("trap '' TERM; echo up; while :; do sleep 0.05; done", {
      limits: { wallMs: 300, graceMs: 100 },
    });
    const result = await done;
    expect(result.timedOut).toBe(true);
    expect(result.stdoutTail).toBe('up\n');
  });

  test('lets a command finish after SIGTERM', async () => {
    const { done } = run("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done", {
      limits: { wallMs: 400, graceMs: 3_000 },
    });
    expect(await done).toMatchObject({ timedOut: true, exitCode: 0, stdoutTail: 'up\nbye\n' });
  });

  test('kills grandchildren that it left behind, also in another session', async () => {
    const writer = 'while :; do echo x >> beat; sleep 0.05; done';
    const { folder, done } = run(
      `(${writer}) & setsid sh -c 'touch second; ${writer}' & until [ -s beat ] && [ -e second ]; do sleep 0.02; done; echo end`,
    );
    const result = await done;
    expect(result).toMatchObject({ exitCode: 0, stdoutTail: 'end\n' });
    const before = readFileSync(join(folder, 'beat'), 'utf8');
    await new Promise((wake) => setTimeout(wake, 200));
    expect(readFileSync(join(folder, 'beat'), 'utf8')).toBe(before);
    if (isolation === 'process') expect(result.leftBehind).toBeGreaterThan(0);
  });

  test('stops a command that makes too many processes', async () => {
    const { done } = run('i=0; while [ $i -lt 60 ]; do sleep 20 & i=$((i+1)); done; wait', {
      limits: { wallMs: 20_000, processes: 30 },
    });
    expect(await done).toMatchObject({ exceeded: 'processes', timedOut: false });
  });

  test('stops a command that takes too much memory', async () => {
    const script = 'const a=[];setInterval(()=>a.push(Buffer.alloc(8e6,1)),5)';
    const { done } = run('', {
      argv: [process.execPath, '-e', script],
      readOnly: [process.execPath],
      limits: { wallMs: 20_000, memoryMb: 300 },
    });
    const result = await done;
    expect(result.timedOut).toBe(false);
    expect(result.exceeded === 'memory' || result.exitCode !== 0).toBe(true);
  });

  test('bounds the size of a file', async () => {
    const { folder, done } = run('yes | head -c 3000000 > big; echo $?', {
      limits: { wallMs: 9_000, diskMb: 1 },
    });
    await done;
    expect(readFileSync(join(folder, 'big')).length).toBeLessThanOrEqual(2 ** 20);
  });

  test('stops on abort, also before the start', async () => {
    const later = new AbortController();
    const { done } = run('echo up; sleep 30', { signal: later.signal });
    setTimeout(() => later.abort(), 150);
    expect(await done).toMatchObject({ aborted: true, timedOut: false });
    expect(await run('sleep 30', { signal: AbortSignal.abort() }).done).toMatchObject({ aborted: true });
  });

  test('keeps only the tail of a flood, and all of it in the file', async () => {
    const { folder, done } = run('yes é | head -c 300000; echo end', {});
    const result = await done;
    expect(result.stdoutTail.endsWith('end\n')).toBe(true);
    expect(result.stdoutTail.length).toBeLessThan(17_000);
    expect(result.stdoutTail).not.toContain('\uFFFD');
    const again = run('yes | head -c 300000', { stdoutFile: join(folder, 'out.txt') });
    await again.done;
    expect(readFileSync(join(folder, 'out.txt')).length).toBe(300_000);
  });

  test('says 127 for a command that is not there', async () => {
    expect(await run('', { argv: ['/no/such/program'] }).done).toMatchObject({ exitCode: 127 });
  });

  test('fails with E_SANDBOX_START when it cannot start', async () => {
    const { done } = run('true', { cwd: '/no/such/folder' });
    await expect(done).rejects.toMatchObject({ code: 'E_SANDBOX_START' });
  });

  test('reaches the model at its address', async () => {
    const server = createServer((request, response) => response.end(`served ${request.url}`));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const script = `fetch('http://127.0.0.1:${port}/x').then((r) => r.text()).then(console.log)`;
    const { done } = run('', {
      argv: [process.execPath, '-e', script],
      readOnly: [process.execPath],
      proxyPort: port,
    });
    expect(await done).toMatchObject({ exitCode: 0, stdoutTail: 'served /x\n' });
  });
});

describe.runIf(probe.ok)('bubblewrap only', () => {
  it('hides the file system and the network', async () => {
    const folder = makeFolder();
    const other = makeFolder({ secret: 'x' });
    const server = createServer((_, response) => response.end('reached'));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    cleanups.push(folder.remove, other.remove, () => server.close());
    const { port } = server.address() as AddressInfo;
    const script = `fetch('http://127.0.0.1:${port}/').then(() => 'reached', (e) => e.cause.code).then(console.log);
      const fs = require('fs');
      console.log(fs.existsSync('${other.path}'), fs.existsSync('/root'), fs.readdirSync('/proc').filter((n) => /^[0-9]/.test(n)).length < 6);
      try { fs.writeFileSync('/usr/x', ''); } catch (e) { console.log(e.code); }`;
    const result = await runContained({
      argv: [process.execPath, '-e', script],
      cwd: folder.path,
      home: folder.path,
      isolation: 'bubblewrap',
      limits: { wallMs: 9_000 },
      leaseDir: join(folder.path, 'leases'),
      readOnly: [process.execPath],
    });
    expect(result.stdoutTail.split('\n').slice(0, 3)).toEqual(['false false true', 'EROFS', 'ECONNREFUSED']);
  });
});

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { endLease, ownIdentity, reapLeases, writeLease } from '../../../../infra/process/sandbox/leases.ts';
import { identifyProcess, isRunning } from '../../../../infra/process/sandbox/processIdentity.ts';
import { listMarked } from '../../../../infra/process/sandbox/processTable.ts';
import { makeFolder } from '../../../support/runHarness.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const owner = fileURLToPath(new URL('../../../support/ownSandbox.ts', import.meta.url));

describe('leases', () => {
  it('ends the sandboxes of an owner that was killed', async () => {
    const folder = makeFolder();
    cleanups.push(folder.remove);
    const child = spawn(process.execPath, ['--import', 'tsx', owner, folder.path], { stdio: 'inherit' });
    const beat = join(folder.path, 'beat');
    for (let tries = 0; !existsSync(beat) && tries < 500; tries += 1) await sleep(20);
    child.kill('SIGKILL');
    await new Promise((exit) => child.once('exit', exit));
    const leases = join(folder.path, 'leases');
    const mark = readdirSync(leases)[0]?.split('.')[0] ?? '';
    expect(listMarked(mark).length).toBeGreaterThan(0);
    expect(await reapLeases(leases)).toEqual([mark]);
    expect(listMarked(mark)).toEqual([]);
    const before = readFileSync(beat, 'utf8');
    await sleep(150);
    expect(readFileSync(beat, 'utf8')).toBe(before);
    expect(readdirSync(leases)).toEqual([]);
  });

  it('leaves alone what a living owner holds, and a process number that was reused', async () => {
    const folder = makeFolder();
    const bystander = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' });
    cleanups.push(folder.remove, () => bystander.kill('SIGKILL'));
    const self = ownIdentity();
    const other = identifyProcess(bystander.pid ?? 0);
    if (other === undefined) throw new Error('the bystander does not run');
    writeLease(folder.path, { mark: 'alive', owner: self, leader: other, paths: [] });
    const gone = { ...self, startedAt: '1' };
    const temporary = makeFolder();
    writeLease(folder.path, {
      mark: 'reused',
      owner: gone,
      leader: { ...other, startedAt: '1' },
      paths: [temporary.path],
    });
    writeFileSync(join(folder.path, 'broken.lease.json'), '{');
    expect(await reapLeases(folder.path)).toEqual(['reused']);
    expect(isRunning(other)).toBe(true);
    expect(existsSync(temporary.path)).toBe(false);
    expect(readdirSync(folder.path)).toEqual(['alive.lease.json']);
    endLease(folder.path, 'alive');
    expect(await reapLeases(join(folder.path, 'none'))).toEqual([]);
  });
});

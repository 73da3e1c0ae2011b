import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CRASH_POINTS } from '../../infra/process/crashPoint.ts';
import { seededRandom } from '../../services/cli/demo/seededRandom.ts';
import { faultsOf } from '../support/checkRuns.ts';
import {
  type Ended,
  leftAfter,
  processesOf,
  runEspalier,
  SMALL,
  type Started,
  startEspalier,
} from '../support/demoProcess.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

// The demo is killed, and the same command goes on. Processes are found in /proc, so Linux only.
const ROUNDS = Number(process.env.ESPALIER_KILL_ROUNDS ?? 4);
const SEED = Number(process.env.ESPALIER_KILL_SEED ?? 1);
/** By then a resumed small demo has ended on a quiet machine; later moments are no moments. */
const LATEST_MS = 12_000;

const folder = temporaryFolder();
/** A demo killed when its first policy was ready: the rest of the tests begin there, in copies. */
const begun = join(folder.path, 'begun');

const demo = (dir: string, env: Readonly<Record<string, string>> = {}): Started =>
  startEspalier(['demo', '--data-dir', join(dir, 'data'), ...SMALL, '--json', '--log-level', 'error'], {
    // Handed on to every child, which is how they are found.
    HOME: dir,
    ...env,
  });

function copyOf(dir: string, name: string): string {
  const copy = join(folder.path, name);
  cpSync(dir, copy, { recursive: true, filter: (source) => !source.endsWith('.sock') });
  return copy;
}

/** The same command once more, to its end; then everything is checked. */
async function goOnToTheEnd(dir: string): Promise<void> {
  const ended = await demo(dir).ended;
  expect(ended.code, ended.stderr + ended.stdout).toBe(0);
  const document = JSON.parse(ended.stdout) as { runId: string; dropped: Record<string, number> };
  expect(Object.keys(document.dropped)).not.toContain('notJudged');
  expect(Object.keys(document.dropped)).not.toContain('notTrained');
  expect(await faultsOf(join(dir, 'data'))).toEqual([]);
  const replay = await runEspalier(
    ['replay', '--data-dir', join(dir, 'data'), '--run', document.runId, '--verify', '--json'],
    { HOME: dir },
  );
  expect(replay.code, replay.stdout + replay.stderr).toBe(0);
  expect(await leftAfter(dir, 3000)).toEqual([]);
}

describe.skipIf(process.platform !== 'linux')('a demo that is killed', () => {
  beforeAll(async () => {
    mkdirSync(begun);
    const started = startEspalier(['demo', '--data-dir', join(begun, 'data'), ...SMALL], { HOME: begun });
    await started.said('policy 0 is ready');
    started.process.kill('SIGKILL');
    await started.ended;
    expect(await leftAfter(begun, 5000), 'orphans').toEqual([]);
  }, 120_000);
  afterAll(() => folder.remove(), 60_000);

  it('goes on after it was killed at every named crash point, one after the other', async () => {
    const dir = copyOf(begun, 'crash-points');
    // Those that every start passes come first, those near the end of a run last.
    const points = [...CRASH_POINTS.filter((name) => name.startsWith('archive')), ...CRASH_POINTS];
    for (const name of new Set(points)) {
      let ended = await demo(dir, { ESPALIER_CRASH_AT: `${name}:1` }).ended;
      // The run may have been too near its end to come by; then the same command begins another one.
      if (ended.code === 0) ended = await demo(dir, { ESPALIER_CRASH_AT: `${name}:1` }).ended;
      expect(ended.signal, `${name}: ${ended.stderr}`).toBe('SIGKILL');
      expect(await leftAfter(dir, 5000), `orphans after ${name}`).toEqual([]);
    }
    await goOnToTheEnd(dir);
  });

  it(
    `goes on after ${ROUNDS} kills at any moment, of the owner, the trainer or the engine`,
    async () => {
      const random = seededRandom(SEED);
      let dir = copyOf(begun, 'moments-0');
      for (let round = 0; round < ROUNDS; round++) {
        const started = demo(dir);
        const victim = (['owner', 'trainer', 'engine'] as const)[Math.floor(random() * 5)] ?? 'owner';
        const moment = Math.floor(random() * LATEST_MS);
        const ended = await Promise.race([
          started.ended,
          delay(moment).then(() => kill(started, dir, victim)),
        ]);
        expect(await leftAfter(dir, 5000), `orphans after ${victim} at ${moment} ms`).toEqual([]);
        if (ended.code !== 0) continue;
        // It was faster than the killer: checked, and the next round begins another demo from nothing.
        expect(await faultsOf(join(dir, 'data'))).toEqual([]);
        dir = join(folder.path, `moments-${round + 1}`);
        mkdirSync(dir);
      }
      await goOnToTheEnd(dir);
    },
    60_000 + ROUNDS * 40_000,
  );
});

/** Kills one of the processes of a demo and waits for the end of the demo. */
async function kill(started: Started, dir: string, victim: 'owner' | 'trainer' | 'engine'): Promise<Ended> {
  const words = { owner: ' demo ', trainer: ' serve trainer ', engine: ' engine tiny ' }[victim];
  const found = processesOf(dir).find(({ command }) => command.includes(words));
  // A child that is not there yet, or no longer, leaves the owner.
  (found === undefined || victim === 'owner'
    ? started.process
    : { kill: () => process.kill(found.pid, 'SIGKILL') }
  ).kill('SIGKILL');
  const ended = await started.ended;
  if (found !== undefined && victim !== 'owner' && ended.code !== 0)
    expect(JSON.parse(ended.stdout), ended.stderr).toMatchObject({ error: { fix: expect.any(String) } });
  return ended;
}

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLmdbLog } from '../../../../infra/log/openLmdbLog.ts';
import { firstDifference } from '../../../../services/cli/replay/firstDifference.ts';
import { pipelineRun } from '../../../support/pipelineRun.ts';
import { runCli } from '../../../support/runCli.ts';
import { temporaryFolder } from '../../../support/temporaryFolder.ts';

const folder = temporaryFolder();
const data = ['--data-dir', folder.path];

beforeAll(() => pipelineRun(folder.path, { groups: 7 }));
afterAll(() => folder.remove());

describe('replay --verify', () => {
  it('reproduces everything that the pipeline emitted', async () => {
    const { json, code } = await runCli(['replay', '--run', 'run1', '--verify', '--json', ...data]);
    expect(json()).toMatchObject({
      ok: true,
      from: 'log',
      groups: 7,
      openGroups: 0,
      notEmittedYet: 0,
      differences: [],
    });
    // 5 scored groups of two samples in batches of two groups: 10 samples, 3 manifests.
    expect(json().equal).toMatchObject({ secondHop: 13 });
    expect(code).toBe(0);
  });

  it('shows the same verdicts as are on record', async () => {
    const { json } = await runCli(['show', 'g0-r0', '--json', ...data]);
    const shown = json<{ attempts: { verdictsAgree: boolean; aside: object[] }[]; fate: string }>();
    expect(shown.attempts[0]).toMatchObject({
      verdictsAgree: true,
      aside: [{ callId: 'late', reason: 'late' }],
    });
    expect(shown.fate).toMatch(/^trained in batch /);
    expect((await runCli(['show', 'g2-r0', '--json', ...data])).json()).toMatchObject({
      fate: expect.stringContaining('zeroVariance'),
      attempts: [{ verdictsAgree: true }],
    });
  });

  it('names what differs, and ends with exit code 1', async () => {
    const other = temporaryFolder();
    await pipelineRun(other.path, { groups: 2 });
    const log = await openLmdbLog({ dir: join(other.path, 'log') });
    const verdict = { callId: 'g0-r0-c0', kind: 'main', verdict: 'dropped', reason: 'superseded' };
    const ids = { runId: 'run1', groupId: 'g0', rolloutId: 'g0-r0', attempt: 0 };
    const event = {
      type: 'TreeJudged',
      ...ids,
      segments: 1,
      leaves: 1,
      verdicts: [verdict],
      diagnostic: null,
    } as const;
    await log.append([{ topic: 'verdicts', event }]);
    await log.close();
    const { json, code } = await runCli(['replay', '--run', 'run1', '--json', '--data-dir', other.path]);
    expect(code).toBe(1);
    expect(json()).toMatchObject({ ok: false, differenceCount: 1 });
    other.remove();
  });

  it('reads the archive where the log is gone', async () => {
    const other = temporaryFolder();
    await pipelineRun(other.path, { groups: 2 });
    const at = ['--data-dir', other.path];
    expect((await runCli(['sql', 'SELECT count() FROM event_log', ...at])).code).toBe(0);
    rmSync(join(other.path, 'log'), { recursive: true });
    const { json } = await runCli(['replay', '--run', 'run1', '--json', ...at]);
    expect(json()).toMatchObject({ ok: true, from: 'archive', groups: 2, differences: [] });
    other.remove();
  });
});

describe('replay --what-if', () => {
  it('counts what another configuration changes and writes the new events', async () => {
    const file = join(folder.path, 'other.yaml');
    const out = join(folder.path, 'whatif.jsonl');
    writeFileSync(file, 'groupsPerBatch: 1\n');
    const { json, code } = await runCli([
      'replay',
      '--run',
      'run1',
      '--what-if',
      file,
      '--out',
      out,
      '--json',
      ...data,
    ]);
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      recorded: { batches: 3, samples: 10 },
      whatIf: { batches: 5, samples: 10 },
    });
    const types = readFileSync(out, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types.filter((type) => type === 'TrainingBatchCut')).toHaveLength(5);
  });

  it('with the same settings changes nothing but what comes late', async () => {
    const file = join(folder.path, 'same.yaml');
    writeFileSync(file, '');
    const { json } = await runCli(['replay', '--run', 'run1', '--what-if', file, '--json', ...data]);
    const { recorded, whatIf } = json<{ recorded: object; whatIf: object }>();
    expect(whatIf).toEqual(recorded);
  });

  it.each([
    [['--verify', '--what-if', 'x'], 'exclude each other'],
    [['--out', 'x'], '--out goes with --what-if'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await runCli(['replay', '--run', 'run1', ...args, ...data]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('firstDifference', () => {
  it('names the path and both values', () => {
    expect(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toBe(
      'a[1].b: 2 on record, 3 replayed',
    );
    expect(firstDifference({ a: 1 }, {})).toBe('a: 1 on record, nothing replayed');
    expect(firstDifference({ a: [1] }, { a: [1] })).toBeUndefined();
  });
});

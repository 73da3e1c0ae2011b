import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDataFolder } from '../../../infra/process/dataFolder.ts';
import { serveOwner } from '../../../infra/process/ownerSocket.ts';
import { formatRows, tabSeparated } from '../../../services/cli/sql/formatRows.ts';
import { recordedRun, writeLog } from '../../support/recordedRun.ts';
import { runCli } from '../../support/runCli.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const folder = temporaryFolder();
const data = ['--data-dir', folder.path];

beforeAll(() => writeLog(folder.path, recordedRun()));
afterAll(() => folder.remove());

describe('runs', () => {
  it('lists the runs of a folder', async () => {
    const { json, code } = await runCli(['runs', 'list', '--json', ...data]);
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      runs: [
        { runId: 'run1', state: 'running', rollouts: 2, calls: 2, batches: 1, samples: 1, groupsScored: 1 },
      ],
    });
    expect((await runCli(['runs', 'list', ...data])).stdout).toMatch(/^run1 .* running /m);
  });

  it('shows the rollouts of a run and what became of each', async () => {
    const { json } = await runCli(['runs', 'show', 'ru', '--json', ...data]);
    expect(json()).toMatchObject({
      rollouts: [
        { rolloutId: 'r1', reward: 1, calls: 1, fate: 'trained' },
        { rolloutId: 'r2', reward: 0, calls: 1, fate: 'noMainThread' },
      ],
    });
    expect((await runCli(['runs', 'show', 'run1', ...data])).stdout).toMatch(/^r2 .* noMainThread$/m);
  });

  it('names a run that is not there', async () => {
    const { code, stderr } = await runCli(['runs', 'show', 'x', ...data]);
    expect(code).toBe(2);
    expect(stderr).toContain('error: there is no run "x"');
  });

  it('cancels a run once', async () => {
    const other = temporaryFolder();
    await writeLog(other.path, recordedRun('run2'));
    const args = ['runs', 'cancel', 'run2', '--json', '--data-dir', other.path];
    expect((await runCli(args)).json()).toEqual({ runId: 'run2', cancelled: true, state: 'cancelled' });
    const again = await runCli(args);
    expect(again.json()).toMatchObject({ cancelled: false, state: 'cancelled' });
    expect(again.code).toBe(1);
    other.remove();
  });
});

describe('show', () => {
  it('reads a rollout from the log', async () => {
    const { stdout, code } = await runCli(['show', 'r1', ...data]);
    expect(code).toBe(0);
    expect(stdout).toContain('rollout r1');
    expect(stdout).toContain('fate       trained in batch b0');
    expect(stdout).toContain('advantage  +1');
  });

  it('names a rollout that is not there, and one that is named by too few letters', async () => {
    expect((await runCli(['show', 'nope', ...data])).stderr).toContain('there is no rollout "nope"');
    expect((await runCli(['show', 'r', ...data])).stderr).toContain('"r" names 2 rollouts: r1, r2');
  });
});

describe('export', () => {
  it('writes samples, then their manifest, as JSON lines', async () => {
    const path = join(folder.path, 'batches.jsonl');
    const result = await runCli(['export', '--run', 'run1', '--out', path, '--json', ...data]);
    expect(result.json()).toMatchObject({ runId: 'run1', samples: 1, batches: 1, trainedTokens: 2 });
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type)).toEqual(['TrainingSample', 'TrainingBatchCut']);
    expect(lines[0].nodes[0]).toMatchObject({ tokenIds: [1, 2, 3, 4, 5], sampledFrom: 3 });
  });

  it('says when the file cannot be written', async () => {
    const { code, stderr } = await runCli(['export', '--run', 'run1', '--out', '/no/such/folder/f', ...data]);
    expect(code).toBe(2);
    expect(stderr).toContain('cannot write /no/such/folder/f');
  });
});

describe('sql', () => {
  it('archives what the log has, then answers', async () => {
    const query = 'SELECT rollout_id, reward FROM rewards ORDER BY rollout_id';
    const { json, code } = await runCli(['sql', query, '--json', ...data]);
    expect(json()).toEqual({
      rows: [
        { rollout_id: 'r1', reward: 1 },
        { rollout_id: 'r2', reward: 0 },
      ],
    });
    expect(code).toBe(0);
    expect((await runCli(['sql', query, ...data])).stdout).toBe('rollout_id\treward\nr1\t1\nr2\t0\n');
  });

  it.each([
    ['DROP TABLE rewards', 'E_SQL_READ_ONLY'],
    ['SELECT 1; SELECT 2', 'E_SQL'],
    ['SELECT nothing FROM nowhere', 'E_SQL'],
  ])('refuses %s', async (sql, code) => {
    const result = await runCli(['sql', sql, '--json', ...data]);
    expect(result.json()).toMatchObject({ error: { code } });
    expect(result.code).toBe(2);
  });

  it('asks the owner of the data folder where there is one', async () => {
    const owned = temporaryFolder();
    const owner = openDataFolder(owned.path);
    const asked: unknown[] = [];
    const server = await serveOwner(owner.socket, {
      sql: async (params) => {
        asked.push(params);
        return [{ n: 1 }];
      },
    });
    const { json } = await runCli([
      'sql',
      'SELECT 1 AS n',
      '--timeout',
      '5',
      '--json',
      '--data-dir',
      owned.path,
    ]);
    expect(json()).toEqual({ rows: [{ n: 1 }] });
    expect(asked).toEqual([{ sql: 'SELECT 1 AS n', timeoutSeconds: 5 }]);
    await server.close();
    owner.close();
    owned.remove();
  });
});

describe('rows of a query', () => {
  const rows = [
    { a: 1, b: ['x', null] },
    { a: null, b: 'tab\there' },
  ];

  it('are a table for people', () => {
    expect(formatRows(rows, 0)).toBe('a     b\n----  ----------\n1     ["x",null]\nNULL  tab here');
    expect(formatRows([], 0)).toBe('no rows');
  });

  it('are tab-separated lines for programs', () => {
    expect(tabSeparated(rows)).toBe('a\tb\n1\t["x",null]\nNULL\ttab\\there');
  });
});

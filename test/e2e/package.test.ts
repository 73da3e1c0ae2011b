import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SMALL = [
  '--steps',
  '1',
  '--group-size',
  '2',
  '--groups-per-batch',
  '1',
  '--evaluation-tasks',
  '2',
  '--max-turns',
  '3',
];

describe('the published package, in an empty folder', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-package-'));
    execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: root, stdio: 'pipe' });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`], {
      cwd: folder,
      stdio: 'pipe',
    });
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const espalier = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync('npx', ['espalier', ...args, '--json'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, stderr, document: stdout === '' ? null : JSON.parse(stdout) };
  };

  test('runs the demo and answers SQL about it', () => {
    const demo = espalier('demo', ...SMALL);
    expect(demo.stderr + demo.status).toMatch(/0$/);
    expect(demo.document).toMatchObject({ steps: 1, batches: 1 });
    const sql = espalier('sql', 'SELECT count() AS n FROM event_log');
    expect(Number(sql.document.rows[0].n)).toBeGreaterThan(demo.document.calls);
  });

  test('runs the demo where chDB cannot be loaded; only sql is missing', () => {
    for (const part of ['chdb', '@chdb'])
      rmSync(join(folder, 'node_modules', part), { recursive: true, force: true });
    const demo = espalier('demo', ...SMALL, '--data-dir', 'without-chdb');
    expect(demo.status).toBe(0);
    expect(demo.stderr).toContain('npm install chdb');
    expect(
      espalier('replay', '--run', demo.document.runId, '--verify', '--data-dir', 'without-chdb').status,
    ).toBe(0);
    const sql = espalier('sql', 'SELECT 1', '--data-dir', 'without-chdb');
    expect(sql.status).toBe(3);
    expect(sql.document.error.code).toBe('E_CHDB_MISSING');
  });
});

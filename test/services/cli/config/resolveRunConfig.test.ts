import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EspalierError } from '../../../../schemas/errors.ts';
import { defaultRunConfig, SETTINGS } from '../../../../schemas/runConfig.ts';
import { resolveRunConfig } from '../../../../services/cli/config/resolveRunConfig.ts';
import { runCli } from '../../../support/runCli.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-config-'));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function messageOf(body: () => unknown): string {
  try {
    body();
  } catch (error) {
    if (error instanceof EspalierError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'no error';
}

describe('resolveRunConfig', () => {
  it('gives the table of defaults when nothing is said', () => {
    const { config, origins } = resolveRunConfig({ values: {}, env: {} });
    expect(config).toEqual(defaultRunConfig());
    expect(new Set(Object.values(origins))).toEqual(new Set(['default']));
    expect(Object.isFrozen(config) && Object.isFrozen(config.harnesses)).toBe(true);
  });

  it('prefers flag, then environment, then file, then the command, then the table', () => {
    const path = file('layers.yaml', 'steps: 3\nseed: 3\ngroupSize: 3\n');
    const { config, origins } = resolveRunConfig({
      values: { config: path, steps: '1' },
      env: { ESPALIER_STEPS: '2', ESPALIER_SEED: '2' },
      defaults: { steps: 4, seed: 4, groupSize: 4, concurrency: 9 },
    });
    const { steps, seed, groupSize, concurrency } = config;
    expect({ steps, seed, groupSize, concurrency }).toEqual({
      steps: 1,
      seed: 2,
      groupSize: 3,
      concurrency: 9,
    });
    expect(origins).toMatchObject({
      steps: 'flag',
      seed: 'environment',
      groupSize: 'file',
      concurrency: 'command',
      maxLeaves: 'default',
    });
  });

  it('cuts lists at commas and takes paths from the folder of whoever names them', () => {
    const path = file('paths.yaml', 'tasks: [one, /two]\nmodelDir: model\n');
    const read = resolveRunConfig({ values: { config: path, harness: 'a, b' }, env: {} }).config;
    expect(read).toMatchObject({
      harnesses: ['a', 'b'],
      tasks: [join(folder, 'one'), '/two'],
      modelDir: join(folder, 'model'),
    });
    expect(resolveRunConfig({ values: { task: 't' }, env: {}, cwd: '/w' }).config.tasks).toEqual(['/w/t']);
  });

  it.each([
    ['no schema fits', { 'group-size': 'many' }, 'groupSize (--group-size) must be integer, not "many"'],
    ['too small', { 'group-size': '0' }, 'groupSize (--group-size) must be >= 1, not 0'],
    ['not in the list', { algorithm: 'sac' }, 'algorithm (--algorithm) must be one of grpo, ppo, not "sac"'],
    ['said twice', { harness: 'a', harnesses: 'b' }, '--harness and --harnesses say the same thing'],
    [
      'contradicting sizes',
      { 'min-group-size': '9' },
      '--min-group-size: minGroupSize 9 is above groupSize 8',
    ],
    ['a group of one', { 'group-size': '1', 'min-group-size': '1' }, 'grpo compares the rollouts of a group'],
    ['an estimator for ppo', { algorithm: 'ppo', estimator: 'rloo' }, 'estimator rloo is not used by ppo'],
    ['a constant without L', { 'loss-aggregation': 'constant' }, 'needs lossConstant'],
    ['a harness twice', { harness: 'a,a' }, 'a harness is named twice'],
  ])('refuses: %s', (_, values, message) => {
    expect(messageOf(() => resolveRunConfig({ values, env: {} }))).toContain(`E_CONFIG: `);
    expect(messageOf(() => resolveRunConfig({ values, env: {} }))).toContain(message);
  });

  it('allows groups of one for ppo', () => {
    expect(
      resolveRunConfig({ values: { algorithm: 'ppo', 'group-size': '1' }, env: {} }).config.groupSize,
    ).toBe(1);
  });

  it.each([
    ['unknown.yaml', 'groupsize: 3', 'there is no setting "groupsize"; did you mean "groupSize"?'],
    ['broken.yaml', 'steps: 3\n  seed: [', 'broken.yaml, line 1: Nested mappings'],
    ['list.yaml', '- steps', 'holds no settings'],
  ])('names what is wrong in %s', (name, text, message) => {
    const path = file(name, text);
    expect(messageOf(() => resolveRunConfig({ values: { config: path }, env: {} }))).toContain(message);
  });

  it('names a file that is not there', () => {
    expect(messageOf(() => resolveRunConfig({ values: { config: '/no/file' }, env: {} }))).toContain(
      'cannot read /no/file',
    );
  });

  it('warns of a variable that is none', () => {
    const { warnings } = resolveRunConfig({
      values: {},
      env: { ESPALIER_GROUP_SIZ: '3', ESPALIER_SECRET: 'x' },
    });
    expect(warnings).toEqual([
      'ESPALIER_GROUP_SIZ is no variable of Espalier; did you mean "ESPALIER_GROUP_SIZE"?',
    ]);
  });
});

describe('config show', () => {
  it('prints each value, its origin and its reason', async () => {
    const { stdout } = await runCli(['config', 'show', '--steps', '7']);
    expect(stdout).toMatch(/^steps +7 +flag +training batches/m);
    expect(stdout.trimEnd().split('\n')).toHaveLength(Object.keys(SETTINGS).length + 2);
  });

  it('is one document with --json', async () => {
    const { json } = await runCli(['config', 'show', '--json'], { env: { ESPALIER_STEPS: '5' } });
    expect(json()).toMatchObject({
      settings: { steps: { value: 5, origin: 'environment', environment: 'ESPALIER_STEPS' } },
    });
  });
});

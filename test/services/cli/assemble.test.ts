import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../support/runCli.ts';

const file = fileURLToPath(new URL('../../../docs/examples/recording.jsonl', import.meta.url));
const recording = readFileSync(file, 'utf8');

const assembled = async (stdin: string, ...args: string[]) => {
  const { stdout, stderr, code } = await runCli(['assemble', ...args], { stdin });
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
};

describe('assemble', () => {
  it('turns a recording into verdicts, a scored group, samples and a batch', async () => {
    const events = await assembled(recording);
    expect(events.map(({ type }) => type)).toEqual([
      'TreeJudged',
      'TreeJudged',
      'GroupScored',
      'TrainingSample',
      'TrainingSample',
      'TrainingBatchCut',
    ]);
    expect(events[0].verdicts).toEqual([
      { callId: 'c1', kind: 'main', verdict: 'trained' },
      { callId: 'c2', kind: 'main', verdict: 'dropped', reason: 'superseded' },
      { callId: 'c3', kind: 'main', verdict: 'trained' },
    ]);
    expect(events[2]).toMatchObject({ mean: 0.5, std: 0.5 });
    const [first] = events.filter(({ type, rolloutId }) => type === 'TrainingSample' && rolloutId === 'r1');
    expect(first.advantage).toBeCloseTo(1, 5);
    expect(first.nodes.map((node: { tokenIds: number[] }) => node.tokenIds)).toEqual([
      [1, 2, 3, 10, 11],
      [4, 5, 13],
    ]);
  });

  it('does not depend on the order of lines', async () => {
    const lines = recording.trimEnd().split('\n').slice(1).reverse().join('\n');
    expect(await assembled(lines)).toEqual(await assembled(recording));
  });

  it('takes settings from flags, and from the recording below them', async () => {
    const ppo = await assembled(recording, '--algorithm', 'ppo');
    expect(ppo.find(({ type }) => type === 'TrainingSample').advantage).toBeNull();
    const configured = `{"type":"RunConfigured","runId":"example","config":"{\\"algorithm\\":\\"ppo\\"}","digest":""}\n`;
    const recorded = await assembled(configured + recording);
    expect(recorded.find(({ type }) => type === 'TrainingSample').advantage).toBeNull();
    const over = await assembled(configured + recording, '--algorithm', 'grpo');
    expect(over.find(({ type }) => type === 'TrainingSample').advantage).not.toBeNull();
  });

  it('reads a file', async () => {
    const { stdout } = await runCli(['assemble', file]);
    expect(stdout).toContain('"type":"TrainingBatchCut"');
  });

  it.each([
    ['{"type":"RewardGiven"', 'line 1 is not JSON'],
    ['\n{"type":"RewardGivn"}', 'line 2: there is no event named "RewardGivn"'],
    [
      '{"type":"RewardGiven","runId":"r","groupId":"g","rolloutId":"x","attempt":0,"reward":"high"}',
      'line 1: RewardGiven.reward must be a double, not "high"',
    ],
    ['{"type":"RolloutSealed","runId":"r","groupId":"g"}', 'line 1: RolloutSealed.rolloutId is missing'],
  ])('names the line and the field at fault: %j', async (stdin, message) => {
    const { code, stdout, stderr } = await runCli(['assemble'], { stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`error: ${message}`);
  });

  it('gives nothing for nothing', async () => {
    expect(await runCli(['assemble'], { stdin: '' })).toMatchObject({ code: 0, stdout: '' });
  });

  it('names a file that is not there', async () => {
    expect((await runCli(['assemble', '/no/file'])).stderr).toContain('cannot read /no/file');
  });
});

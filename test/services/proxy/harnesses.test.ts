import { afterEach, describe, expect, it } from 'vitest';
import type { ScriptedReply } from '../../../infra/engine/scriptedReply.ts';
import type { EspalierEvent, TrainingSample, TreeJudged } from '../../../schemas/generated/events.ts';
import { defaultRunConfig } from '../../../schemas/runConfig.ts';
import { assemble } from '../../../streams/assemble/assemble.ts';
import { CLAIMS, type ProxyWorld, proxyWorld } from '../../support/proxyWorld.ts';
import { makeFolder, runHarness } from '../../support/runHarness.ts';

let world: ProxyWorld;
let folder: ReturnType<typeof makeFolder>;
afterEach(async () => {
  await world.close();
  folder.remove();
});

const instruction = 'Read kelo.txt and write its code to answer.txt.';
const call = (name: string, args: object): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const summary = (which: string): string =>
  `The ${which} summary: the file kelo.txt was read, it holds a code line, a note line and a list line; the answer is to be written next.`;

/** Runs a harness against the proxy, seals, and judges what was captured. */
async function run(
  file: 'alder.js' | 'birch.js',
  script: readonly ScriptedReply[],
  env: (world: ProxyWorld) => Record<string, string>,
) {
  world = await proxyWorld(script);
  folder = makeFolder({ 'kelo.txt': 'code: dako\nnote: lemi\nlist: puva\n' });
  const ended = await runHarness(file, ['-p', instruction, '--context-limit', '1'], folder.path, env(world));
  const sealed = await world.proxy.seal(CLAIMS);
  const { runId, groupId, rolloutId, taskId, harness } = CLAIMS;
  const identity = { runId, groupId, rolloutId };
  const recording = [
    {
      type: 'RolloutRequested',
      ...identity,
      taskId,
      harness,
      groupSize: 1,
      index: 0,
      instruction,
      purpose: 'train',
      step: null,
      pinnedVersion: null,
      task: null,
      at: 0,
    },
    ...world.log.events('model-calls'),
    sealed,
    { type: 'RewardGiven', ...identity, attempt: 0, reward: 1, criteria: {}, flag: null, at: 0 },
  ] as EspalierEvent[];
  const out = assemble(recording, { ...defaultRunConfig(), algorithm: 'ppo', groupsPerBatch: 1 });
  const judged = out.find((event): event is TreeJudged => event.type === 'TreeJudged')!;
  const sample = out.find((event): event is TrainingSample => event.type === 'TrainingSample')!;
  return { ended, judged, sample, verdicts: judged.verdicts.map((entry) => entry.reason ?? entry.verdict) };
}

describe('a harness that knows nothing of the proxy', () => {
  it('speaks Anthropic Messages, through a retry, a sub-agent and two compactions', async () => {
    const { ended, verdicts, sample } = await run(
      'alder.js',
      [
        { text: call('read_file', { path: 'kelo.txt' }) },
        { text: summary('first') },
        { text: '<tool_call>\n{"name": "write_file", "arguments": {' },
        { text: call('delegate', { prompt: 'Please tell me which code stands in the file kelo.txt here.' }) },
        { text: 'It is dako.' },
        { text: summary('second') },
        { text: 'Finished.' },
      ],
      ({ proxy, token }) => ({ ANTHROPIC_BASE_URL: proxy.modelUrl, ANTHROPIC_AUTH_TOKEN: token }),
    );
    expect(ended).toMatchObject({ exitCode: 0, stdout: 'Finished.' });
    expect(verdicts).toEqual([
      'trained',
      'compaction',
      'superseded',
      'trained',
      'subagent',
      'compaction',
      'trained',
    ]);
    expect(sample.keptLeaves).toHaveLength(3);
  });

  it('speaks Chat Completions, through a title, a broken call that stays, a sub-agent and a compaction', async () => {
    const { ended, verdicts, sample } = await run(
      'birch.js',
      [
        { text: 'Copy the code' },
        { text: `Reading.\n${call('read_file', { path: 'kelo.txt' })}` },
        { text: summary('first') },
        { text: '<tool_call>\n{"name": "write_file", "arguments": {' },
        { text: call('delegate', { prompt: 'Please tell me which code stands in the file kelo.txt here.' }) },
        { text: 'It is dako.' },
        { text: summary('second') },
        { text: 'Finished.' },
      ],
      ({ proxy, token }) => ({ OPENAI_BASE_URL: `${proxy.modelUrl}/v1`, OPENAI_API_KEY: token }),
    );
    expect(ended).toMatchObject({ exitCode: 0, stdout: 'Finished.' });
    expect(verdicts).toEqual([
      'utility',
      'trained',
      'compaction',
      'trained',
      'trained',
      'subagent',
      'compaction',
      'trained',
    ]);
    expect(sample.keptLeaves).toHaveLength(3);
    const parents = world.calls().map((event) => event.parentCallId);
    expect(parents[4]).toBe(world.calls()[3]!.callId);
  });

  it('comes through engine failures by trying the same bytes again', async () => {
    const { ended, verdicts } = await run(
      'birch.js',
      [{ text: 'Title' }, { status: 503 }, { text: 'Done.' }],
      ({ proxy, token }) => ({
        OPENAI_BASE_URL: `${proxy.modelUrl}/r/${token}/v1`,
        OPENAI_API_KEY: 'unused',
      }),
    );
    expect(ended.exitCode).toBe(0);
    expect(verdicts).toEqual(['utility', 'failed', 'trained']);
  });
});

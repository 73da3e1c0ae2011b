// Does the policy learn? A short run of the simulated demo world for one seed, and the control with shuffled rewards.
import { describe, expect, it } from 'vitest';
import { rngFromSeed } from '../../../infra/engine/tiny/rng.ts';
import { samplerScratch } from '../../../infra/engine/tiny/sampleReply.ts';
import { TinyChat } from '../../../infra/engine/tiny/tinyChat.ts';
import { loadVocabulary } from '../../../infra/engine/tiny/vocabulary.ts';
import { warmStart } from '../../../infra/engine/tiny/warmStart/warmStart.ts';
import { demoRun } from '../../support/demoRun.ts';
import { demoRollout, demoTask } from '../../support/demoWorld.ts';

const start = warmStart(1);
const run = { start, seed: 1, algorithm: 'grpo' as const, lag: 1, shuffleRewards: false };

describe('the warm start', () => {
  it('writes mostly well-formed calls with arbitrary choices', () => {
    const vocabulary = loadVocabulary();
    const policy = {
      vocabulary,
      chat: new TinyChat(),
      weights: start,
      version: '0',
      scratch: samplerScratch(vocabulary),
    };
    const rng = rngFromSeed(6);
    const rollouts = Array.from({ length: 80 }, () => demoRollout(policy, demoTask(rng), rng));
    const sum = (of: (rollout: (typeof rollouts)[number]) => number) =>
      rollouts.reduce((n, r) => n + of(r), 0);
    expect(sum((r) => r.malformed) / sum((r) => r.calls)).toBeLessThan(0.2);
    expect(sum((r) => (r.reward > 0.99 ? 1 : 0)) / rollouts.length).toBeLessThan(0.1);
    for (const tool of ['read_file', 'write_file', 'shell', 'delegate']) {
      expect(sum((r) => r.text.split(`{"name": "${tool}", "arguments": {"`).length - 1)).toBeGreaterThan(40);
    }
  }, 60_000);
});

describe('training in the demo world', () => {
  it.each([
    ['grpo', 26],
    ['ppo', 16],
  ] as const)(
    'solves held-out tasks it failed before, by %s',
    (algorithm, steps) => {
      const { before, after } = demoRun({ ...run, algorithm, steps });
      expect(before).toBeLessThan(0.15);
      expect(after - before).toBeGreaterThan(0.4);
    },
    240_000,
  );

  it('learns nothing from rewards dealt out at random', () => {
    const { before, after } = demoRun({ ...run, steps: 10, shuffleRewards: true });
    expect(after - before).toBeLessThan(0.1);
  }, 240_000);

  it('gives the same weights for the same run', () => {
    const twice = [1, 2].map(() => demoRun({ ...run, steps: 2 }).metrics);
    expect(twice[0]).toEqual(twice[1]);
  }, 120_000);
});

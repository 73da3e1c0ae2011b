import { describe, expect, it } from 'vitest';
import { Distribution } from '../../../infra/engine/tiny/distribution.ts';
import { rngFromSeed } from '../../../infra/engine/tiny/rng.ts';
import { TinyChat } from '../../../infra/engine/tiny/tinyChat.ts';
import { loadVocabulary } from '../../../infra/engine/tiny/vocabulary.ts';
import { viewWeights, weightCount } from '../../../infra/engine/tiny/weights.ts';
import { policyLoss } from '../../../services/trainer/policyLoss.ts';
import { trainedTokens } from '../../../services/trainer/trainedTokens.ts';
import { treeNode } from '../../support/treeNode.ts';

const vocabulary = loadVocabulary();
const chat = new TinyChat();
// Float64, so that a difference of 1e-6 can be seen.
const random = (seed: number, scale: number) => {
  const rng = rngFromSeed(seed);
  const values = Float64Array.from({ length: weightCount(vocabulary.size) }, () => (rng() - 0.5) * scale);
  return viewWeights(vocabulary.size, values);
};
const anchor = random(1, 1);
const scratch = {
  anchor,
  distribution: new Distribution(vocabulary.size),
  anchorDistribution: new Distribution(vocabulary.size),
};
const config = { importanceCap: 1.5, clipRatio: 0.3, klCoefficient: 0.2, valueCoefficient: 0.5 };

function batchOf(temperature: number, advantage: number | null) {
  const prompt = chat.prompt([{ role: 'user', content: 'Bring kelo.txt here.' }]);
  const reply = [
    ...chat.encode('<tool_call>\n{"name": "shell", "arguments": {"command": "kelo.txt'),
    vocabulary.turnEnd,
  ];
  const samples = [
    {
      nodes: [treeNode({ parent: -1, context: prompt, sampled: reply, logprob: -5, temperature })],
      keptLeaves: [0],
      reward: 0.7,
      advantage,
    },
  ];
  return { samples, tokens: trainedTokens(vocabulary, samples), weights: [0.1] };
}

/** Largest gap between the gradient and central differences, over the weights with the largest gradient. */
function worstGap(temperature: number, advantage: number | null, first: boolean): number {
  const batch = batchOf(temperature, advantage);
  const weights = random(2, 1);
  const { reference } = policyLoss(first ? weights : random(3, 1.02), batch, config, null, scratch, null);
  const gradient = new Float64Array(weights.values.length);
  policyLoss(weights, batch, config, reference, scratch, gradient);
  const indices = [...gradient.keys()].filter((i) => Math.abs(gradient[i]!) > 1e-4);
  const checked = indices.filter((_, i) => i % Math.ceil(indices.length / 60) === 0);
  const inCritic = indices.filter((i) => i >= weights.criticOffset).slice(0, 20);
  let worst = 0;
  for (const i of [...checked, ...inCritic]) {
    const lossAt = (delta: number) => {
      weights.values[i]! += delta;
      const { totals } = policyLoss(weights, batch, config, reference, scratch, null);
      weights.values[i]! -= delta;
      return totals.loss;
    };
    const difference = (lossAt(1e-5) - lossAt(-1e-5)) / 2e-5;
    worst = Math.max(worst, Math.abs(difference - gradient[i]!));
  }
  expect(checked.length).toBeGreaterThan(30);
  if (advantage === null) expect(inCritic.length).toBeGreaterThan(5);
  return worst;
}

describe('the gradient of the loss is what finite differences say', () => {
  it('for the policy, at temperature 1', () => expect(worstGap(1, 1.3, true)).toBeLessThan(1e-6));
  it('for the policy, at other temperatures', () => {
    expect(worstGap(0.6, -0.8, true)).toBeLessThan(1e-6);
    expect(worstGap(1.5, 1.1, true)).toBeLessThan(1e-6);
  });
  it('for policy and critic together', () => expect(worstGap(1, null, true)).toBeLessThan(1e-6));
  it('away from the reference, where some ratios are clipped', () =>
    expect(worstGap(1, 1.3, false)).toBeLessThan(1e-6));
});

describe('the correction for off-policy tokens', () => {
  it('weighs a token by its probability then and now, up to the cap', () => {
    const batch = batchOf(1, 1);
    const weights = random(2, 1);
    const own = policyLoss(weights, batch, config, null, scratch, null);
    const on = batch.tokens.map((token, i) => ({ ...token, rolloutLogprob: own.reference.logProbs[i]! }));
    const { totals } = policyLoss(weights, { ...batch, tokens: on }, config, null, scratch, null);
    expect(totals.importance / on.length).toBeCloseTo(1, 9);
    expect(totals.gapSquares).toBeCloseTo(0, 9);
    expect(totals.truncatedWeights).toBe(0);
    const likelier = on.map((token) => ({ ...token, rolloutLogprob: token.rolloutLogprob - 2 }));
    const capped = policyLoss(weights, { ...batch, tokens: likelier }, config, null, scratch, null).totals;
    expect(capped.importance / on.length).toBeCloseTo(1.5, 9);
    expect(capped.truncatedWeights).toBe(on.length);
  });
});

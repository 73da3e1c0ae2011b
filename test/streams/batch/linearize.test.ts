import { describe, expect, it } from 'vitest';
import type { TrainingSample, TreeNode } from '../../../schemas/generated/events.ts';
import { linearize } from '../../../streams/batch/linearize.ts';
import { ids } from '../../support/tree/events.ts';

const node = (parent: number, tokens: readonly number[], sampledFrom: number): TreeNode => ({
  parent,
  tokenIds: Int32Array.from(tokens),
  sampledFrom,
  rolloutLogprobs: Float32Array.from(tokens.slice(sampledFrom), (t) => -t),
  policySpans: [],
  callId: `c${tokens[0]}`,
  temperature: 1,
  logprobsMode: 'processed',
  finishReason: 'stop',
});

const sample: TrainingSample = {
  type: 'TrainingSample',
  batchId: 'b',
  ...ids(),
  attempt: 0,
  taskId: '',
  harness: 'alder',
  nodes: [node(-1, [1, 2, 3], 1), node(0, [4, 5], 1), node(0, [6, 7, 8], 1), node(2, [9], 1)],
  keptLeaves: [1, 3],
  reward: 1,
  advantage: 0.5,
  group: { size: 2, scored: 2, mean: 0.5, std: 0.5 },
  tokens: { total: 9, trained: 5 },
};
const totals = {
  lossAggregation: 'rolloutMean',
  lossConstant: null,
  samples: 4,
  tokens: { total: 50, trained: 20 },
};

describe('linearize', () => {
  it('gives a row for each trajectory, with the shared prefix trained in the first', () => {
    const rows = linearize(sample, totals);
    expect(rows.map((row) => [...row.tokenIds])).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 6, 7, 8, 9],
    ]);
    expect(rows.map((row) => [...row.lossMask])).toEqual([
      [0, 1, 1, 0, 1],
      [0, 0, 0, 0, 1, 1, 0],
    ]);
    expect(rows.map((row) => [...row.rolloutLogprobs])).toEqual([
      [0, -2, -3, 0, -5],
      [0, 0, 0, 0, -7, -8, 0],
    ]);
    expect(rows.map((row) => [...row.advantages!])).toEqual([
      [0, 0.5, 0.5, 0, 0.5],
      [0, 0, 0, 0, 0.5, 0.5, 0],
    ]);
    expect(rows.map(({ row, rows: of, rolloutTrainedTokens }) => [row, of, rolloutTrainedTokens])).toEqual([
      [0, 2, 5],
      [1, 2, 5],
    ]);
  });

  it.each([
    ['tokenMean', null, 1 / 20],
    ['rolloutMean', null, 1 / (4 * 5)],
    ['constant', 100, 1 / (4 * 100)],
  ])('%s gives every token the weight %s', (lossAggregation, lossConstant, weight) => {
    for (const row of linearize(sample, { ...totals, lossAggregation, lossConstant }))
      expect(row.lossWeight).toBe(weight);
  });

  it('a rollout weighs 1 / N under rolloutMean, however many rows it has', () => {
    const weight = linearize(sample, totals).reduce(
      (sum, { lossMask, lossWeight }) => sum + lossMask.reduce((a, b) => a + b, 0) * lossWeight,
      0,
    );
    expect(weight).toBeCloseTo(1 / 4, 12);
  });

  it('PPO rows carry the reward and no advantages', () => {
    expect(linearize({ ...sample, advantage: null }, totals)[0]).toMatchObject({
      advantages: null,
      reward: 1,
    });
  });

  it('names an aggregation that does not exist or lacks its constant', () => {
    expect(() => linearize(sample, { ...totals, lossAggregation: 'mean' })).toThrow(
      'no lossAggregation mean',
    );
    expect(() => linearize(sample, { ...totals, lossAggregation: 'constant' })).toThrow('lossConstant');
  });
});

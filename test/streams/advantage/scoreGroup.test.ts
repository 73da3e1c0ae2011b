import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultRunConfig } from '../../../schemas/runConfig.ts';
import { advantagesOf, type Estimator, rewardStats } from '../../../streams/advantage/estimators.ts';
import { scoreGroup } from '../../../streams/advantage/scoreGroup.ts';

const config = { ...defaultRunConfig(), minGroupSize: 2 };

describe('estimators', () => {
  it('GRPO divides by the population standard deviation', () => {
    expect(rewardStats([0, 1])).toEqual({ mean: 0.5, std: 0.5 });
    const [low, high] = advantagesOf('grpo', [0, 1], 1e-6) as [number, number];
    expect(low).toBeCloseTo(-1, 5);
    expect(high).toBeCloseTo(1, 5);
  });

  it('Dr. GRPO does not divide', () => expect(advantagesOf('drgrpo', [0, 0, 3], 1e-6)).toEqual([-1, -1, 2]));

  it('RLOO compares with the others', () =>
    expect(advantagesOf('rloo', [0, 0, 3], 1e-6)).toEqual([-1.5, -1.5, 3]));

  it('advantages of a group sum to zero and do not depend on order (invariant 7)', () => {
    const reward = fc.double({ min: -10, max: 10, noNaN: true });
    fc.assert(
      fc.property(
        fc.constantFrom<Estimator>('grpo', 'drgrpo', 'rloo'),
        fc.array(reward, { minLength: 2, maxLength: 16 }),
        (estimator, rewards) => {
          fc.pre(Math.max(...rewards) - Math.min(...rewards) >= 1e-6);
          const advantages = advantagesOf(estimator, rewards, 1e-6);
          expect(Math.abs(advantages.reduce((a, b) => a + b, 0))).toBeLessThan(1e-6 * rewards.length);
          expect(advantagesOf(estimator, rewards.toReversed(), 1e-6).toReversed()).toEqual(advantages);
        },
      ),
    );
  });
});

describe('group filters', () => {
  it('drops a group that is too small or in which all rewards are equal', () => {
    expect(scoreGroup([1], config)).toMatchObject({ drop: 'tooSmall' });
    expect(scoreGroup([1, 1 + 9e-7], config)).toMatchObject({ drop: 'zeroVariance' });
    expect(scoreGroup([1, 1 + 2e-6], config)).toMatchObject({ drop: null });
  });

  it('PPO has no filters but an empty group, and no advantages', () => {
    const ppo = { ...config, algorithm: 'ppo' as const };
    expect(scoreGroup([1], ppo)).toMatchObject({ drop: null, advantages: [null] });
    expect(scoreGroup([], ppo)).toMatchObject({ drop: 'tooSmall' });
  });
});

import type { PipelineConfig } from '../pipelineConfig.ts';
import { advantagesOf, type RewardStats, rewardStats } from './estimators.ts';

/** Advantages of a group, or why it teaches nothing. */
export type GroupScore =
  | { readonly drop: 'tooSmall' | 'zeroVariance'; readonly detail: string; readonly stats: RewardStats }
  | { readonly drop: null; readonly advantages: readonly (number | null)[]; readonly stats: RewardStats };

type ScoreConfig = Pick<
  PipelineConfig,
  'algorithm' | 'estimator' | 'minGroupSize' | 'zeroVarianceEpsilon' | 'advantageEpsilon'
>;

/**
 * Scores a group by the rewards of its scored rollouts. PPO has no group filters and no advantage here: with
 * gamma = lambda = 1 it is R - V(s), and V is the trainer's.
 */
export function scoreGroup(rewards: readonly number[], config: ScoreConfig): GroupScore {
  const stats = rewardStats(rewards);
  const least = config.algorithm === 'ppo' ? 1 : config.minGroupSize;
  if (rewards.length < least) {
    return { drop: 'tooSmall', detail: `${rewards.length} scored rollouts, at least ${least}`, stats };
  }
  if (config.algorithm === 'ppo') return { drop: null, advantages: rewards.map(() => null), stats };
  if (Math.max(...rewards) - Math.min(...rewards) < config.zeroVarianceEpsilon) {
    return { drop: 'zeroVariance', detail: `every reward is ${rewards[0]}`, stats };
  }
  return { drop: null, advantages: advantagesOf(config.estimator, rewards, config.advantageEpsilon), stats };
}

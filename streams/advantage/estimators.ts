/** How rewards of a group become advantages. */
export type Estimator = 'grpo' | 'drgrpo' | 'rloo';

/** Mean and population standard deviation of a group's rewards. */
export interface RewardStats {
  readonly mean: number;
  readonly std: number;
}

/** Statistics over the scored rollouts of a group; of no rewards all are 0. */
export function rewardStats(rewards: readonly number[]): RewardStats {
  if (rewards.length === 0) return { mean: 0, std: 0 };
  const mean = sum(rewards) / rewards.length;
  return { mean, std: Math.sqrt(sum(rewards.map((reward) => (reward - mean) ** 2)) / rewards.length) };
}

/**
 * One advantage for each reward, in the same order; they sum to zero.
 *
 * - `grpo`: (R - mean) / (std + epsilon), population std
 * - `drgrpo`: R - mean, not divided, so that easy and hard tasks weigh by their spread
 * - `rloo`: R - mean of the others
 */
export function advantagesOf(
  estimator: Estimator,
  rewards: readonly number[],
  epsilon: number,
): readonly number[] {
  const { mean, std } = rewardStats(rewards);
  const scale = { grpo: 1 / (std + epsilon), drgrpo: 1, rloo: rewards.length / (rewards.length - 1) }[
    estimator
  ];
  return rewards.map((reward) => (reward - mean) * scale);
}

/** Summed in ascending order: the same total whatever order the rollouts came in. */
function sum(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b).reduce((total, value) => total + value, 0);
}

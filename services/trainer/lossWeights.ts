// The weight of one trained token in the loss, which is a sum over tokens and is never normalised again.

export type LossAggregation =
  | { readonly kind: 'tokenMean' }
  | { readonly kind: 'rolloutMean' }
  | { readonly kind: 'constant'; readonly length: number };

/**
 * Weight of every token of each rollout of a batch: tokenMean 1/T of the batch, rolloutMean 1/(N x T of the
 * rollout), constant 1/(N x L). `trainedTokens` has one entry per rollout of the *whole* batch, so that cutting a
 * batch into micro-batches changes nothing.
 */
export function lossWeights(trainedTokens: readonly number[], aggregation: LossAggregation): number[] {
  const rollouts = trainedTokens.length;
  const total = trainedTokens.reduce((sum, n) => sum + n, 0);
  return trainedTokens.map((n) => {
    if (n === 0) return 0;
    if (aggregation.kind === 'tokenMean') return 1 / total;
    if (aggregation.kind === 'rolloutMean') return 1 / (rollouts * n);
    return 1 / (rollouts * aggregation.length);
  });
}

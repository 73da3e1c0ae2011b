// The loss of a batch and its gradient.
//
// Per trained token, with old = log p under the weights at the start of the step, rollout = log p recorded when it
// was sampled: w = min(exp(old - rollout), c) (truncated importance sampling), r = exp(new - old), and the term
// -w x min(r A, clip(r, 1-e, 1+e) A). A is the rollout's advantage (GRPO) or R - V(s_t) (PPO, gamma = lambda = 1),
// whose critic adds valueCoefficient x (V - R)^2 / 2. klCoefficient x KL(new || anchor) over the
// whole vocabulary holds the policy near the weights it started from. Terms are summed with the
// token's loss weight and never normalised again.
import { criticValue, type Distribution } from '../../infra/engine/tiny/distribution.ts';
import type { Weights } from '../../infra/engine/tiny/weights.ts';
import type { TrainableSample, TrainedToken } from './trainedTokens.ts';

export interface LossConfig {
  /** c of the truncated importance weight. */
  readonly importanceCap: number;
  /** e of the ratio clip. */
  readonly clipRatio: number;
  readonly klCoefficient: number;
  readonly valueCoefficient: number;
}

/** log p and V of each trained token before any update of the step. */
export interface Reference {
  readonly logProbs: Float64Array;
  readonly values: Float64Array;
}

export interface LossBatch {
  readonly samples: readonly TrainableSample[];
  readonly tokens: readonly TrainedToken[];
  /** Loss weight of the tokens of each sample. */
  readonly weights: readonly number[];
}

/** Weights the KL penalty pulls towards (null: none), and memory to work in. */
export interface LossScratch {
  readonly anchor: Weights | null;
  readonly distribution: Distribution;
  readonly anchorDistribution: Distribution;
}

/** `loss` and its parts are weighted sums; the others are plain sums over tokens. */
export interface LossTotals {
  loss: number;
  policyLoss: number;
  valueLoss: number;
  divergence: number;
  entropy: number;
  ratio: number;
  clippedRatios: number;
  importance: number;
  truncatedWeights: number;
  /** rollout - old, and its square: how far the trainer's probabilities are from the engine's. */
  gap: number;
  gapSquares: number;
  /** Estimate of KL(rollout || new): exp(d) - 1 - d with d = new - rollout. */
  kl: number;
}

/**
 * One pass over the batch under `weights`. `reference` null makes this pass its own reference, which is returned.
 * With a `gradient` (as long as the weights) the gradient of the loss is added to it.
 */
export function policyLoss(
  weights: Weights,
  batch: LossBatch,
  config: LossConfig,
  reference: Reference | null,
  scratch: LossScratch,
  gradient: Float32Array | Float64Array | null,
): { totals: LossTotals; reference: Reference } {
  const count = batch.tokens.length;
  const own = reference ?? { logProbs: new Float64Array(count), values: new Float64Array(count) };
  const totals = noTotals();
  const { distribution } = scratch;
  const anchored = scratch.anchor !== null && config.klCoefficient > 0;
  for (let i = 0; i < count; i++) {
    const { sample: at, id, rolloutLogprob, temperature, features } = batch.tokens[i] as TrainedToken;
    const { reward, advantage: given } = batch.samples[at] as TrainableSample;
    const weight = batch.weights[at] as number;
    distribution.compute(weights, features, temperature);
    const logProb = distribution.logProb(id);
    const value = given === null ? criticValue(weights, features) : 0;
    if (reference === null) {
      own.logProbs[i] = logProb;
      own.values[i] = value;
    }
    const old = own.logProbs[i] as number;
    const advantage = given ?? reward - (own.values[i] as number);

    const rawImportance = Math.exp(old - rolloutLogprob);
    const importance = Math.min(rawImportance, config.importanceCap);
    const ratio = Math.exp(logProb - old);
    const clipped = Math.min(Math.max(ratio, 1 - config.clipRatio), 1 + config.clipRatio);
    const isClipped = clipped * advantage < ratio * advantage;
    let divergence = 0;
    if (anchored) {
      scratch.anchorDistribution.compute(scratch.anchor as Weights, features, temperature);
      divergence = distribution.divergence(scratch.anchorDistribution);
    }

    totals.policyLoss -= weight * importance * (isClipped ? clipped : ratio) * advantage;
    totals.divergence += weight * divergence;
    if (reference === null) totals.entropy += weight * distribution.entropy();
    if (given === null) totals.valueLoss += (weight * (value - reward) ** 2) / 2;
    totals.ratio += ratio;
    totals.importance += importance;
    if (isClipped) totals.clippedRatios++;
    if (rawImportance > config.importanceCap) totals.truncatedWeights++;
    totals.gap += rolloutLogprob - old;
    totals.gapSquares += (rolloutLogprob - old) ** 2;
    totals.kl += Math.exp(logProb - rolloutLogprob) - 1 - (logProb - rolloutLogprob);

    if (gradient === null) continue;
    const onLogProb = isClipped ? 0 : -weight * importance * ratio * advantage;
    const onDivergence = anchored ? weight * config.klCoefficient : 0;
    if (onLogProb !== 0 || onDivergence !== 0) {
      distribution.addGradient(weights, features, id, onLogProb, onDivergence, divergence, gradient);
    }
    if (given === null) {
      const onValue = weight * config.valueCoefficient * (value - reward);
      for (let f = 0; f < features.critic.length; f++) {
        gradient[weights.criticOffset + features.critic[f]!]! += onValue;
      }
    }
  }
  totals.loss =
    totals.policyLoss + config.valueCoefficient * totals.valueLoss + config.klCoefficient * totals.divergence;
  return { totals, reference: own };
}

function noTotals(): LossTotals {
  return {
    loss: 0,
    policyLoss: 0,
    valueLoss: 0,
    divergence: 0,
    entropy: 0,
    ratio: 0,
    clippedRatios: 0,
    importance: 0,
    truncatedWeights: 0,
    gap: 0,
    gapSquares: 0,
    kl: 0,
  };
}

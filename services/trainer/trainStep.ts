import type { Vocabulary } from '../../infra/engine/tiny/vocabulary.ts';
import type { Weights } from '../../infra/engine/tiny/weights.ts';
import { gradientStep } from './gradientStep.ts';
import { type LossAggregation, lossWeights } from './lossWeights.ts';
import { type LossScratch, type LossTotals, policyLoss, type Reference } from './policyLoss.ts';
import { type TrainableSample, trainedTokens } from './trainedTokens.ts';

/** Passes over a batch; the ratio clip bounds how far they lead. */
const EPOCHS = 3;
const CLIP_RATIO = 0.3;
/** Weights of spelling and syntax learn this much slower than those of choices. */
const FORM_SHARE = 0.2;
/** Stable for any mix of the critic's eight features, so it does not follow the learning rate. */
const CRITIC_RATE = 0.2;
const VALUE_COEFFICIENT = 0.5;
/** PPO advantages are rewards less values, not divided by the group's deviation: smaller, so the step is larger. */
const PPO_SCALE = 5;
/** The KL penalty is strong while most groups fail and exploring matters, and fades: START / (1 + batch / FADE). */
const KL_START = 0.2;
const KL_FADE = 8;

/** One batch and what it is trained on with. */
export interface TrainStep {
  readonly vocabulary: Vocabulary;
  /** Changed in place. */
  readonly weights: Weights;
  readonly scratch: LossScratch;
  readonly samples: readonly TrainableSample[];
  readonly aggregation: LossAggregation;
  readonly batchNumber: number;
  /** Of the weights that decide what to do. */
  readonly learningRate: number;
  readonly importanceCap: number;
}

/** Trains on one batch: a few full passes. Deterministic. Returns metrics by name. */
export function trainStep(step: TrainStep): Record<string, number> {
  const { weights, samples } = step;
  const tokens = trainedTokens(step.vocabulary, samples);
  const counts = samples.map(() => 0);
  for (const { sample } of tokens) counts[sample]! += 1;
  const batch = { samples, tokens, weights: lossWeights(counts, step.aggregation) };
  const actorCritic = samples.some(({ advantage }) => advantage === null);
  const choice = step.learningRate * (actorCritic ? PPO_SCALE : 1);
  const rates = { form: choice * FORM_SHARE, choice, critic: CRITIC_RATE };
  const config = {
    importanceCap: step.importanceCap,
    clipRatio: CLIP_RATIO,
    klCoefficient: KL_START / (1 + step.batchNumber / KL_FADE) / (actorCritic ? PPO_SCALE : 1),
    valueCoefficient: VALUE_COEFFICIENT,
  };
  let reference: Reference | null = null;
  let metrics: Record<string, number> = {};
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const gradient = new Float32Array(weights.values.length);
    const pass = policyLoss(weights, batch, config, reference, step.scratch, gradient);
    const gradientNorm = gradientStep(weights, gradient, rates);
    const first = reference === null ? metricsOf(pass.totals, tokens.length) : metrics;
    metrics = { ...first, ...ratiosOf(pass.totals, tokens.length), gradientNorm };
    reference = pass.reference;
  }
  return metrics;
}

/** What the first pass says: the batch under the weights the step started from. */
function metricsOf(totals: LossTotals, tokens: number): Record<string, number> {
  return {
    loss: totals.loss,
    policyLoss: totals.policyLoss,
    valueLoss: totals.valueLoss,
    entropy: totals.entropy,
    divergence: totals.divergence,
    truncatedWeights: mean(totals.truncatedWeights, tokens),
    meanImportance: mean(totals.importance, tokens),
    logprobGap: Math.sqrt(mean(totals.gapSquares, tokens)),
    tokens,
  };
}

/** What the last pass says: how far the step has moved the policy. */
function ratiosOf(totals: LossTotals, tokens: number): Record<string, number> {
  return {
    meanRatio: mean(totals.ratio, tokens),
    clippedRatios: mean(totals.clippedRatios, tokens),
    kl: mean(totals.kl, tokens),
  };
}

function mean(sum: number, count: number): number {
  return count === 0 ? 0 : sum / count;
}

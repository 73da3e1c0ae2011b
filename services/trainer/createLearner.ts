import { Distribution } from '../../infra/engine/tiny/distribution.ts';
import { loadVocabulary } from '../../infra/engine/tiny/vocabulary.ts';
import { warmStart } from '../../infra/engine/tiny/warmStart/warmStart.ts';
import { cloneWeights, deserializeWeights, serializeWeights } from '../../infra/engine/tiny/weights.ts';
import type { TrainingBatchCut } from '../../schemas/generated/events.ts';
import type { RunConfig } from '../../schemas/runConfig.ts';
import type { LossAggregation } from './lossWeights.ts';
import type { Learner } from './startTrainer.ts';
import { trainStep } from './trainStep.ts';

/**
 * A learner of the tiny policy: GRPO or PPO with truncated importance weights.
 * Its whole state is the weights: plain gradient descent keeps no moments, and the KL penalty follows from the number
 * of the batch and the warm start of the run's seed.
 * @param saved what `save` gave; null: the warm start of the run's seed
 */
export function createLearner(config: RunConfig, saved: Uint8Array | null): Learner {
  const vocabulary = loadVocabulary();
  const anchor = warmStart(config.seed);
  const weights = saved === null ? cloneWeights(anchor) : deserializeWeights(saved);
  const scratch = {
    anchor,
    distribution: new Distribution(vocabulary.size),
    anchorDistribution: new Distribution(vocabulary.size),
  };
  return {
    train: (samples, manifest) =>
      trainStep({
        vocabulary,
        weights,
        scratch,
        samples,
        aggregation: aggregationOf(manifest),
        batchNumber: manifest.batchNumber,
        learningRate: config.learningRate,
        importanceCap: config.tisClip,
      }),
    save: () => serializeWeights(weights),
  };
}

function aggregationOf(manifest: TrainingBatchCut): LossAggregation {
  const { lossAggregation: kind, lossConstant } = manifest;
  if (kind === 'constant') return { kind, length: lossConstant ?? 1 };
  return { kind: kind === 'tokenMean' ? 'tokenMean' : 'rolloutMean' };
}

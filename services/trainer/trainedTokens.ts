// The trained tokens of a batch with the features of the state each was sampled in. Features depend on token ids
// only, so they are made once and serve every pass over the batch.
import { ContextState } from '../../infra/engine/tiny/contextState.ts';
import { type FeatureSet, Features } from '../../infra/engine/tiny/features.ts';
import type { Vocabulary } from '../../infra/engine/tiny/vocabulary.ts';
import { type SampleTree, trainedPaths } from './trainedPaths.ts';

/** What the loss needs of a TrainingSample. `advantage` null: the PPO form, with the critic as baseline. */
export interface TrainableSample extends SampleTree {
  readonly reward: number;
  readonly advantage: number | null;
}

export interface TrainedToken {
  /** Index of its sample in the batch. */
  readonly sample: number;
  readonly id: number;
  readonly rolloutLogprob: number;
  readonly temperature: number;
  readonly features: FeatureSet;
}

/** Every trained token of the batch once, in order of samples and paths. Costs time linear in the paths' length. */
export function trainedTokens(vocabulary: Vocabulary, samples: readonly TrainableSample[]): TrainedToken[] {
  const out: TrainedToken[] = [];
  const features = new Features();
  samples.forEach((sample, index) => {
    for (const path of trainedPaths(sample)) {
      const state = new ContextState(vocabulary);
      for (const { node, trained } of path) {
        for (let t = 0; t < node.tokenIds.length; t++) {
          const id = node.tokenIds[t] as number;
          if (trained && t >= node.sampledFrom) {
            features.collect(state);
            if (sample.advantage === null) features.collectCritic(state);
            out.push({
              sample: index,
              id,
              rolloutLogprob: node.rolloutLogprobs[t - node.sampledFrom] as number,
              temperature: node.temperature,
              features: frozen(features),
            });
          }
          state.append(id);
        }
      }
    }
  });
  return out;
}

function frozen(features: Features): FeatureSet {
  return {
    rows: Int32Array.from(features.rows),
    copyTokens: Int32Array.from(features.copyTokens),
    copyIndices: Int32Array.from(features.copyIndices),
    critic: Int32Array.from(features.critic),
  };
}

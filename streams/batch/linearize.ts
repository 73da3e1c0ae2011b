import { EspalierError } from '../../schemas/errors.ts';
import type { TrainingBatchCut, TrainingSample, TreeNode } from '../../schemas/generated/events.ts';

/** One trajectory as a sequence. Arrays have one entry for each token. */
export interface TrainingRow {
  readonly rolloutId: string;
  /** place among the rows of its rollout, and how many there are */
  readonly row: number;
  readonly rows: number;
  readonly tokenIds: Int32Array;
  /** 1 where the token is trained in this row; each trained token of a rollout is in exactly one */
  readonly lossMask: Uint8Array;
  /** natural log; 0 where the mask is 0 */
  readonly rolloutLogprobs: Float32Array;
  /** the rollout's advantage where the mask is 1, else 0; null for PPO */
  readonly advantages: Float32Array | null;
  readonly reward: number;
  /** trained tokens of the whole rollout, over all its rows */
  readonly rolloutTrainedTokens: number;
  /** factor of each trained token's term: the loss is a plain sum of weight x term */
  readonly lossWeight: number;
}

/** What weights depend on: the totals of the batch. */
export type BatchTotals = Pick<TrainingBatchCut, 'lossAggregation' | 'lossConstant' | 'samples' | 'tokens'>;

/**
 * Turns a sample into one row for each kept trajectory. A token in a prefix that several trajectories share
 * is trained in the first of them only, and the weight of a rollout does not depend on its number of rows.
 */
export function linearize(sample: TrainingSample, totals: BatchTotals): readonly TrainingRow[] {
  const lossWeight = lossWeightOf(sample, totals);
  const seen = new Set<number>();
  return sample.keptLeaves.map((leaf, row) => {
    const path = pathTo(sample.nodes, leaf);
    const length = path.reduce((sum, index) => sum + nodeAt(sample.nodes, index).tokenIds.length, 0);
    const tokenIds = new Int32Array(length);
    const lossMask = new Uint8Array(length);
    const rolloutLogprobs = new Float32Array(length);
    let at = 0;
    for (const index of path) {
      const node = nodeAt(sample.nodes, index);
      tokenIds.set(node.tokenIds, at);
      if (!seen.has(index)) {
        lossMask.fill(1, at + node.sampledFrom, at + node.tokenIds.length);
        rolloutLogprobs.set(node.rolloutLogprobs, at + node.sampledFrom);
        seen.add(index);
      }
      at += node.tokenIds.length;
    }
    const { rolloutId, reward, advantage } = sample;
    const advantages =
      advantage === null ? null : Float32Array.from(lossMask, (on) => (on === 1 ? advantage : 0));
    return {
      rolloutId,
      row,
      rows: sample.keptLeaves.length,
      tokenIds,
      lossMask,
      rolloutLogprobs,
      advantages,
      reward,
      rolloutTrainedTokens: sample.tokens.trained,
      lossWeight,
    };
  });
}

/**
 * Weight of a trained token: `tokenMean` 1 / T of the batch, `rolloutMean` 1 / (N x T of the rollout),
 * `constant` 1 / (N x L), with N the rollouts of the batch.
 */
export function lossWeightOf(sample: TrainingSample, totals: BatchTotals): number {
  switch (totals.lossAggregation) {
    case 'tokenMean':
      return 1 / totals.tokens.trained;
    case 'rolloutMean':
      return 1 / (totals.samples * sample.tokens.trained);
    case 'constant':
      if (totals.lossConstant !== null) return 1 / (totals.samples * totals.lossConstant);
      throw new EspalierError('E_CONFIG', 'lossAggregation constant needs lossConstant');
    default:
      throw new EspalierError('E_CONFIG', `there is no lossAggregation ${totals.lossAggregation}`);
  }
}

function pathTo(nodes: readonly TreeNode[], leaf: number): readonly number[] {
  const path: number[] = [];
  for (let at = leaf; at !== -1; at = nodeAt(nodes, at).parent) path.push(at);
  return path.reverse();
}

function nodeAt(nodes: readonly TreeNode[], index: number): TreeNode {
  const node = nodes[index];
  if (node === undefined) throw new EspalierError('E_TREE_INVARIANT', `a sample has no node ${index}`);
  return node;
}

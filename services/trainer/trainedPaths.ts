// A sample's tree as root-to-leaf paths in which every trained token is visited exactly once, in its full context.
import type { TreeNode } from '../../schemas/generated/events.ts';

/** The part of a TrainingSample that says which tokens there are. */
export interface SampleTree {
  readonly nodes: readonly TreeNode[];
  readonly keptLeaves: readonly number[];
}

/** One node on a path; `trained`: its sampled tokens are visited here and nowhere else. */
export interface PathStep {
  readonly node: TreeNode;
  readonly index: number;
  readonly trained: boolean;
}

/**
 * One path per kept leaf. A shared prefix is trained on the first path that has it; nodes without trained tokens
 * (context) are never marked. Throws a RangeError when a parent or a leaf is no node, or when parents form a cycle.
 */
export function trainedPaths(sample: SampleTree): PathStep[][] {
  const visited = new Set<number>();
  return sample.keptLeaves.map((leaf) => {
    const indices: number[] = [];
    for (let at = leaf; at !== -1; at = nodeAt(sample, at).parent) {
      if (indices.length > sample.nodes.length) throw new RangeError('parents of a sample form a cycle');
      indices.push(at);
    }
    return indices.reverse().map((index) => {
      const node = nodeAt(sample, index);
      const trained = !visited.has(index) && node.sampledFrom < node.tokenIds.length;
      visited.add(index);
      return { node, index, trained };
    });
  });
}

function nodeAt(sample: SampleTree, index: number): TreeNode {
  const node = sample.nodes[index];
  if (node === undefined) throw new RangeError(`sample has no node ${index}`);
  return node;
}

/** Trained tokens of a sample: the sampled tokens of all nodes on kept paths, each once. */
export function countTrainedTokens(sample: SampleTree): number {
  let count = 0;
  for (const path of trainedPaths(sample)) {
    for (const { node, trained } of path) if (trained) count += node.tokenIds.length - node.sampledFrom;
  }
  return count;
}

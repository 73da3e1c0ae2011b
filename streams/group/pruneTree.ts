import type { TokenTotals, TreeNode } from '../../schemas/generated/events.ts';
import type { KeptCall } from '../judge/judge.ts';

/** What is left of a tree: the kept paths, with nothing sampled in calls that are not trained. */
export interface PrunedTree {
  readonly nodes: readonly TreeNode[];
  /** nodes that end a kept trajectory */
  readonly keptLeaves: readonly number[];
  readonly tokens: TokenTotals;
}

/** Cuts a tree down to its kept calls. `kept` has every call after the one it extends. */
export function pruneTree(kept: readonly KeptCall[]): PrunedTree {
  const indexOf = new Map(kept.map(({ node }, index) => [node, index]));
  const parents = kept.map(({ node }) => (node.parent === null ? -1 : (indexOf.get(node.parent) as number)));
  const nodes = kept.map(({ node, trained }, index): TreeNode => {
    const { call, envTokenIds } = node;
    const tokenIds = new Int32Array(envTokenIds.length + call.sampledTokenIds.length);
    tokenIds.set(envTokenIds);
    tokenIds.set(call.sampledTokenIds, envTokenIds.length);
    return {
      parent: parents[index] as number,
      tokenIds,
      sampledFrom: trained ? envTokenIds.length : tokenIds.length,
      rolloutLogprobs: trained ? call.rolloutLogprobs : new Float32Array(0),
      policySpans: trained ? call.policySpans : [],
      callId: call.callId,
      temperature: call.temperature,
      logprobsMode: call.logprobsMode,
      finishReason: call.finishReason,
    };
  });
  const inner = new Set(parents);
  return {
    nodes,
    keptLeaves: nodes.map((_, index) => index).filter((index) => !inner.has(index)),
    tokens: {
      total: nodes.reduce((sum, node) => sum + node.tokenIds.length, 0),
      trained: nodes.reduce((sum, node) => sum + node.tokenIds.length - node.sampledFrom, 0),
    },
  };
}

/** Upper bound of the bytes that kept calls take in a record. */
export function encodedBytes(kept: readonly KeptCall[]): number {
  let bytes = 1024;
  for (const { node } of kept) {
    const { sampledTokenIds, policySpans, callId } = node.call;
    bytes += 4 * (node.envTokenIds.length + 2 * sampledTokenIds.length) + 4 * callId.length + 128;
    for (const span of policySpans) bytes += 4 * span.version.length + 16;
  }
  return bytes;
}

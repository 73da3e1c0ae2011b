import type { TreeNode } from '../../schemas/generated/events.ts';

/** A node of a sample: context ids, then sampled ids, all with one log-probability. */
export function treeNode(node: {
  readonly parent: number;
  readonly context: readonly number[];
  readonly sampled: readonly number[];
  readonly logprob?: number;
  readonly temperature?: number;
}): TreeNode {
  const { parent, context, sampled, logprob = -1, temperature = 1 } = node;
  return {
    parent,
    tokenIds: Int32Array.from([...context, ...sampled]),
    sampledFrom: context.length,
    rolloutLogprobs: Float32Array.from(sampled, () => logprob),
    policySpans: [{ version: '1', start: 0, end: sampled.length }],
    callId: `call-${parent}`,
    temperature,
    logprobsMode: 'processed',
    finishReason: 'stop',
  };
}

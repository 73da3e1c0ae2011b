import type { CallVerdict } from '../../schemas/generated/events.ts';
import type { PolicyVersions } from '../pipelineConfig.ts';
import type { PrefixNode, PrefixTree } from '../tree/prefixTree.ts';
import { classify } from './classify.ts';
import { contextReason, endReason } from './faults.ts';
import { keepPaths } from './keepPaths.ts';

/** What the filters need to know besides the tree. */
export interface JudgeFacts {
  /** the task prompt; null when it is not known */
  readonly instruction: string | null;
  /** calls whose reply never reached the harness */
  readonly undelivered: ReadonlySet<string>;
  readonly versions: PolicyVersions;
  /** main leaves above which the rollout is dropped */
  readonly maxLeaves: number;
}

/** A call on a kept path. */
export interface KeptCall {
  readonly node: PrefixNode;
  /** false: it stays as context, none of its tokens is trained */
  readonly trained: boolean;
}

/** The verdict on every call of one attempt. */
export interface Judgement {
  /** one for each call of the tree, in call order */
  readonly verdicts: readonly CallVerdict[];
  readonly segments: number;
  /** main leaves before the dead ones are removed */
  readonly leaves: number;
  /** calls on kept paths, in call order */
  readonly kept: readonly KeptCall[];
  /** sampled tokens that are trained */
  readonly trainedTokens: number;
  /** why the whole rollout goes; null when it stays */
  readonly drop: 'noMainThread' | 'overBranching' | 'nothingTrainable' | null;
  /** says more about `drop` */
  readonly detail: string | null;
}

/**
 * Applies the three filters in their order: auxiliary calls go, then the dead leaves of every segment, then
 * the whole rollout when it branched too often. Each call gets exactly one verdict. ClawGym II, filters.
 */
export function judge(tree: PrefixTree, facts: JudgeFacts): Judgement {
  const { kinds, segments, diagnostic } = classify(tree, facts.instruction);
  const carried = new Set(segments.flatMap((segment) => segment.carried));
  const isMain = (node: PrefixNode) => kinds.get(node) === 'main';
  const context = new Map(tree.nodes.map((node) => [node, contextReason(node.call, facts.versions)]));
  const ending = (node: PrefixNode) =>
    node.children.length > 0 || carried.has(node) ? null : endReason(node.call, facts.undelivered);
  const onPath = keepPaths(segments, {
    isInvalidEnd: (node) => ending(node) !== null,
    isTrainable: (node) => context.get(node) === null,
  });

  const verdictOf = (node: PrefixNode): CallVerdict => {
    const { callId } = node.call;
    const kind = kinds.get(node) ?? 'utility';
    if (kind !== 'main') return { callId, kind, verdict: 'dropped', reason: kind };
    if (!onPath.has(node)) return { callId, kind, verdict: 'dropped', reason: ending(node) ?? 'superseded' };
    const reason = context.get(node) ?? null;
    return { callId, kind, verdict: reason === null ? 'trained' : 'context', reason };
  };
  const kept = tree.nodes
    .filter((node) => onPath.has(node))
    .map((node) => ({ node, trained: context.get(node) === null }));
  const trainedTokens = kept.reduce(
    (sum, { node, trained }) => sum + (trained ? node.call.sampledTokenIds.length : 0),
    0,
  );
  const leaves = tree.nodes.filter((node) => isMain(node) && !node.children.some(isMain)).length;
  const base = {
    verdicts: tree.nodes.map(verdictOf),
    segments: segments.length,
    leaves,
    kept,
    trainedTokens,
  };
  if (diagnostic !== null) return { ...base, drop: 'noMainThread', detail: diagnostic };
  if (leaves > facts.maxLeaves) {
    return { ...base, drop: 'overBranching', detail: `${leaves} main leaves, at most ${facts.maxLeaves}` };
  }
  return { ...base, drop: trainedTokens === 0 ? 'nothingTrainable' : null, detail: null };
}

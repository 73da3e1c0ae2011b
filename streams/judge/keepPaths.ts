import { byCallOrder, type PrefixNode } from '../tree/prefixTree.ts';
import type { Segment } from './segment.ts';

/** What is known of single calls when paths are compared. */
export interface CallFacts {
  /** nothing goes on from it and it is no valid end: aborted, undelivered, cut off, ... */
  isInvalidEnd(node: PrefixNode): boolean;
  /** its tokens can be trained; other calls do not count as length */
  isTrainable(node: PrefixNode): boolean;
}

/**
 * The calls on kept paths: of every segment the longest valid continuation, and every turn that a later main
 * call still carries, each with all its ancestors. What is left over are superseded attempts.
 *
 * A segment that a rewritten history left is not over when the harness goes on in it afterwards: then its
 * newest attempts compete as usual.
 */
export function keepPaths(segments: readonly Segment[], facts: CallFacts): ReadonlySet<PrefixNode> {
  const kept = new Set<PrefixNode>();
  const keep = (end: PrefixNode | null) => {
    for (let at = end; at !== null && !kept.has(at); at = at.parent) kept.add(at);
  };
  for (const segment of segments) for (const turn of segment.carried) keep(turn);
  for (const segment of segments) {
    const left = lastRewriting(segment, segments);
    const members = new Set(segment.nodes);
    const ends = segment.nodes
      .filter((node) => !node.children.some((child) => members.has(child)))
      .filter((leaf) => left === null || byCallOrder(leaf, left) > 0)
      .map((leaf) => validEnd(members, leaf, facts))
      .filter((end) => end !== null);
    keep(longest(ends, facts));
  }
  return kept;
}

/**
 * The latest rewritten history by which the harness left a segment: it carries turns of the segment, or it
 * goes back to the turns that the segment, rewritten itself, went on from. Null while nothing left it.
 */
function lastRewriting(segment: Segment, segments: readonly Segment[]): PrefixNode | null {
  const known = new Set(segment.nodes);
  if (segment.opening === 'rewritten') for (const turn of segment.carried) known.add(turn);
  return segments
    .slice(segments.indexOf(segment) + 1)
    .filter((later) => later.opening === 'rewritten' && later.carried.some((turn) => known.has(turn)))
    .reduce<PrefixNode | null>((_, later) => later.nodes[0] ?? null, null);
}

/** The leaf, or the call before it where the leaf itself is no valid end; never beyond the segment. */
function validEnd(members: ReadonlySet<PrefixNode>, leaf: PrefixNode, facts: CallFacts): PrefixNode | null {
  if (!facts.isInvalidEnd(leaf)) return leaf;
  return leaf.parent !== null && members.has(leaf.parent) ? leaf.parent : null;
}

/** Most calls, then most sampled tokens, then the later call. */
function longest(ends: readonly PrefixNode[], facts: CallFacts): PrefixNode | null {
  let best: { readonly end: PrefixNode; readonly calls: number; readonly tokens: number } | null = null;
  for (const end of ends) {
    let calls = 0;
    let tokens = 0;
    for (let at: PrefixNode | null = end; at !== null; at = at.parent) {
      if (!facts.isTrainable(at)) continue;
      calls++;
      tokens += at.call.sampledTokenIds.length;
    }
    const order =
      best === null ? 1 : calls - best.calls || tokens - best.tokens || byCallOrder(end, best.end);
    if (order > 0) best = { end, calls, tokens };
  }
  return best?.end ?? null;
}

import type { ModelCalled } from '../../schemas/generated/events.ts';
import type { CallNode, CallTree } from './callTree.ts';

/** A call in the finished tree, where every call hangs on the longest history that it extends. */
export interface PrefixNode {
  readonly call: ModelCalled;
  readonly parent: PrefixNode | null;
  readonly children: PrefixNode[];
  /** input ids after the parent's history */
  readonly envTokenIds: Int32Array;
  /** tokens of the input the engine saw */
  readonly inputLength: number;
  /** tokens of the history it leaves: input and response */
  readonly depth: number;
}

/** The finished tree of one attempt. */
export interface PrefixTree {
  /** nodes without parent, in call order */
  readonly roots: readonly PrefixNode[];
  /** all nodes, in call order; a call never stands before the one it extends */
  readonly nodes: readonly PrefixNode[];
  readonly byId: ReadonlyMap<string, PrefixNode>;
}

/** The order calls were made in, total and the same for every arrival order. */
export function byCallOrder(a: { readonly call: ModelCalled }, b: { readonly call: ModelCalled }): number {
  return (
    a.call.seq - b.call.seq || (a.call.callId < b.call.callId ? -1 : a.call.callId > b.call.callId ? 1 : 0)
  );
}

/**
 * Finishes a tree once all calls are in. Calls that name their parent stay with it. A call that carries its
 * full input is attached to the earlier call whose accumulated history is the longest prefix of that input,
 * if there is one; the rest of the input is context. Of equal histories the latest call wins. Calls with
 * byte-identical inputs become siblings. Waiting calls are left out. ClawGym II, prefix tree.
 */
export function finishTree(tree: CallTree): PrefixTree {
  const roots: PrefixNode[] = [];
  const byId = new Map<string, PrefixNode>();
  // A history is at least as long as the input it began with, so shorter inputs first is parents first.
  const fullInputs = [...tree.nodes.values()]
    .filter((node) => node.parent === null)
    .sort((a, b) => a.inputLength - b.inputLength || byCallOrder(a, b));
  for (const full of fullInputs) {
    const parent = longestPrefix(roots, full.call);
    const root = adopt(full, parent, full.call.envTokenIds.subarray(parent?.depth ?? 0));
    if (parent === null) roots.push(root);
    addBelow(full, root, byId);
  }
  for (const node of byId.values()) node.children.sort(byCallOrder);
  return { roots: roots.sort(byCallOrder), nodes: parentsFirst([...byId.values()].sort(byCallOrder)), byId };
}

function addBelow(source: CallNode, node: PrefixNode, byId: Map<string, PrefixNode>): void {
  const stack: [CallNode, PrefixNode][] = [[source, node]];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [from, to] = top;
    byId.set(to.call.callId, to);
    for (const child of from.children) stack.push([child, adopt(child, to, child.call.envTokenIds)]);
  }
}

function adopt(source: CallNode, parent: PrefixNode | null, envTokenIds: Int32Array): PrefixNode {
  const { call, inputLength, depth } = source;
  const node = { call, parent, children: [], envTokenIds, inputLength, depth };
  parent?.children.push(node);
  return node;
}

/** A recording may number its calls carelessly. */
function parentsFirst(nodes: readonly PrefixNode[]): readonly PrefixNode[] {
  const order = new Set<PrefixNode>();
  for (const node of nodes) {
    const path: PrefixNode[] = [];
    for (let at: PrefixNode | null = node; at !== null && !order.has(at); at = at.parent) path.push(at);
    for (const at of path.reverse()) order.add(at);
  }
  return [...order];
}

/** Walks down every branch whose tokens the input repeats; compares each token of it once. */
function longestPrefix(roots: readonly PrefixNode[], call: ModelCalled): PrefixNode | null {
  const input = call.envTokenIds;
  let best: PrefixNode | null = null;
  const stack = [...roots];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!couldPrecede(node, call) || !matches(node, input)) continue;
    if (
      best === null ||
      node.depth > best.depth ||
      (node.depth === best.depth && byCallOrder(node, best) > 0)
    )
      best = node;
    stack.push(...node.children);
  }
  return best;
}

/** Only an earlier call can be extended. One that added nothing to the very same input is a sibling. */
function couldPrecede(node: PrefixNode, call: ModelCalled): boolean {
  const { length } = call.envTokenIds;
  if (node.call.seq > call.seq) return false;
  return node.depth < length || (node.depth === length && node.depth > node.inputLength);
}

function matches(node: PrefixNode, input: Int32Array): boolean {
  const { sampledTokenIds } = node.call;
  const start = node.inputLength - node.envTokenIds.length;
  return equalAt(input, start, node.envTokenIds) && equalAt(input, node.inputLength, sampledTokenIds);
}

function equalAt(input: Int32Array, at: number, ids: Int32Array): boolean {
  for (let i = 0; i < ids.length; i++) if (input[at + i] !== ids[i]) return false;
  return true;
}

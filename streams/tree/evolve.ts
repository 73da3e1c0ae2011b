import { digestHex, extendDigest } from '../../schemas/digest.ts';
import type { ModelCalled } from '../../schemas/generated/events.ts';
import { type CallNode, type CallTree, digestBefore, hasCall } from './callTree.ts';

/**
 * Adds a call to the tree of its attempt; the proxy and the pipeline share this one function. Calls come
 * in any order: a call whose parent is missing waits for it. A call that is there already changes nothing.
 * The work is proportional to the tokens the call adds, whatever the length of its history.
 *
 * A call with another prefix length or digest than the history in the tree is placed all the same and
 * listed in `broken`: it counts as received, and its rollout cannot be trusted.
 *
 * @returns the tree it was given, grown
 */
export function evolve(tree: CallTree, call: ModelCalled): CallTree {
  if (hasCall(tree, call.callId)) return tree;
  const pending = [call];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const parent = next.parentCallId === null ? null : tree.nodes.get(next.parentCallId);
    if (parent === undefined) {
      wait(tree, next.parentCallId as string, next);
      continue;
    }
    tree.waitingIds.delete(next.callId);
    place(tree, parent, next);
    const released = tree.waiting.get(next.callId);
    if (released === undefined) continue;
    tree.waiting.delete(next.callId);
    pending.push(...released);
  }
  return tree;
}

function wait(tree: CallTree, parentId: string, call: ModelCalled): void {
  const siblings = tree.waiting.get(parentId);
  if (siblings === undefined) tree.waiting.set(parentId, [call]);
  else siblings.push(call);
  tree.waitingIds.add(call.callId);
}

function place(tree: CallTree, parent: CallNode | null, call: ModelCalled): void {
  if (!agrees(parent, call)) tree.broken.add(call.callId);
  const inputLength = (parent?.depth ?? 0) + call.envTokenIds.length;
  const node: CallNode = {
    call,
    parent,
    children: [],
    inputLength,
    depth: inputLength + call.sampledTokenIds.length,
    digest: extendDigest(extendDigest(digestBefore(parent), call.envTokenIds), call.sampledTokenIds),
  };
  parent?.children.push(node);
  tree.nodes.set(call.callId, node);
}

/** Recordings may leave prefix length and digest out; what is there must agree. */
function agrees(parent: CallNode | null, call: ModelCalled): boolean {
  const { prefixTokenCount, prefixDigest } = call;
  const depth = parent?.depth ?? 0;
  if (prefixDigest !== null)
    return prefixTokenCount === depth && prefixDigest === digestHex(digestBefore(parent));
  return prefixTokenCount === 0 || prefixTokenCount === depth;
}

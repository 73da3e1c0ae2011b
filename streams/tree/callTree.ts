import { EMPTY_DIGEST, type TokenDigest } from '../../schemas/digest.ts';
import type { ModelCalled } from '../../schemas/generated/events.ts';

/** A call whose whole history is known: its declared parents are all in the tree. */
export interface CallNode {
  readonly call: ModelCalled;
  /** the call it says it extends; null when it carries its full input */
  readonly parent: CallNode | null;
  readonly children: CallNode[];
  /** tokens of the input the engine saw */
  readonly inputLength: number;
  /** tokens of the history it leaves: input and response */
  readonly depth: number;
  /** digest of that history */
  readonly digest: TokenDigest;
}

/**
 * The calls of one attempt as they arrive. Grown by `evolve`, in place: whoever grows a tree owns it.
 * Memory is the tokens of the calls plus a small constant for each.
 */
export interface CallTree {
  readonly nodes: Map<string, CallNode>;
  /** calls by the missing parent they wait for */
  readonly waiting: Map<string, ModelCalled[]>;
  /** callIds of waiting calls */
  readonly waitingIds: Set<string>;
  /** calls whose declared history is not the one in the tree */
  readonly broken: Set<string>;
}

/** A tree without calls. */
export function emptyTree(): CallTree {
  return { nodes: new Map(), waiting: new Map(), waitingIds: new Set(), broken: new Set() };
}

/** Whether a call is in the tree, placed or waiting for its parent. */
export function hasCall(tree: CallTree, callId: string): boolean {
  return tree.nodes.has(callId) || tree.waitingIds.has(callId);
}

/** Digest of the history that a call extends: its parent's, or nothing for a full input. */
export function digestBefore(parent: CallNode | null): TokenDigest {
  return parent?.digest ?? EMPTY_DIGEST;
}

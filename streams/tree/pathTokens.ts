import type { CallNode } from './callTree.ts';

/** The history a call leaves, id for id: the input the engine saw and what it sampled. */
export function pathTokens(node: CallNode): Int32Array {
  const tokens = new Int32Array(node.depth);
  let end = node.depth;
  for (let at: CallNode | null = node; at !== null; at = at.parent) {
    const { envTokenIds, sampledTokenIds } = at.call;
    end -= sampledTokenIds.length;
    tokens.set(sampledTokenIds, end);
    end -= envTokenIds.length;
    tokens.set(envTokenIds, end);
  }
  return tokens;
}

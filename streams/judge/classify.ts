import type { PrefixNode, PrefixTree } from '../tree/prefixTree.ts';
import { describeRoots, findMain } from './findMain.ts';
import { MainWalk } from './mainWalk.ts';
import { rootMarks } from './rootMarks.ts';
import type { Kind, Segment } from './segment.ts';

/** Every call's kind, and the main thread cut into segments. */
export interface Classified {
  readonly kinds: ReadonlyMap<PrefixNode, Kind>;
  readonly segments: readonly Segment[];
  /** why there is no main thread; null when there is one */
  readonly diagnostic: string | null;
}

/**
 * Tells the main agent's calls from those of sub-agents, compactions and utilities (titles, routing,
 * memory), from the structure of the tree: no harness is named here. Main is the earliest root that carries
 * the task instruction and shows no mark of another role. A later root belongs to it when it continues it
 * after a compaction, still carries its turns, or begins it again; every other call follows its root.
 */
export function classify(tree: PrefixTree, instruction: string | null): Classified {
  const marks = rootMarks(tree, instruction);
  const mainRoot = findMain(tree, marks, instruction);
  const walk = new MainWalk(marks, mainRoot, instruction);
  for (const node of tree.nodes) walk.visit(node);
  // A call turns out to be a compaction only when its summary reappears, after it was taken for main.
  const isMain = (node: PrefixNode) => walk.kinds.get(node) === 'main';
  return {
    kinds: walk.kinds,
    segments: walk.segments
      .map(({ opening, nodes, carried }) => ({
        opening,
        nodes: nodes.filter(isMain),
        carried: carried.filter(isMain),
      }))
      .filter(({ nodes }) => nodes.length > 0),
    diagnostic: mainRoot === null ? describeRoots(tree) : null,
  };
}

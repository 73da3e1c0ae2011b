import type { PrefixNode, PrefixTree } from '../tree/prefixTree.ts';
import { carriedTurns } from './carriedTurns.ts';
import { memo } from './memo.ts';
import {
  argumentTexts,
  contextLookup,
  profileOf,
  relatedTexts,
  systemText,
  taskWasSampled,
} from './opening.ts';

const NO_PROMPT = new Int32Array(0);

/** What tells that a root is not the main agent's. */
export interface RootMarks {
  /** names of the tools it offers; null when not known */
  toolsOf(node: PrefixNode): readonly string[] | null;
  /** whether the system prompts of two roots may be one agent's */
  areRelated(a: PrefixNode, b: PrefixNode): boolean;
  /** the harness names another agent than the main one, or a parent of it */
  hasAgentHeader(node: PrefixNode): boolean;
  /** known to offer no tools */
  hasNoTools(node: PrefixNode): boolean;
  /** its task text is an argument that the policy sampled before */
  hasSampledTask(root: PrefixNode): boolean;
  /** it carries another thread's turns under an unrelated system prompt */
  isForeignFork(root: PrefixNode): boolean;
}

/** Reads the marks of a tree's roots. */
export function rootMarks(tree: PrefixTree, instruction: string | null): RootMarks {
  const contextOf = contextLookup(tree);
  const mainAgent = mainAgentOf(tree);
  const before = (node: PrefixNode) => tree.nodes.slice(0, tree.nodes.indexOf(node));
  const toolsOf = (node: PrefixNode) => contextOf(node)?.toolNames ?? null;
  const system = memo((root: PrefixNode) => profileOf(systemText(root, contextOf(root))));
  const areRelated = (a: PrefixNode, b: PrefixNode) => a === b || relatedTexts(system(a), system(b));
  const argumentsOf = memo(({ call }: PrefixNode) => argumentTexts(call.response));
  return {
    toolsOf,
    areRelated,
    hasAgentHeader: ({ call }) =>
      call.parentAgentId !== null || (call.agentId !== null && call.agentId !== mainAgent),
    hasNoTools: (node) => toolsOf(node)?.length === 0,
    hasSampledTask: memo((root) => {
      const sampled = before(root).flatMap(argumentsOf);
      return sampled.length > 0 && taskWasSampled(root, sampled, instruction);
    }),
    isForeignFork: memo((root) => {
      const foreignRoots = new Set(tree.roots.filter((other) => !areRelated(root, other)));
      if (foreignRoots.size === 0) return false;
      const foreign = before(root).filter((node) => foreignRoots.has(rootOf(node)));
      return carriedTurns(root, foreign, NO_PROMPT).length > 0;
    }),
  };
}

/** Most harnesses name sub-agents only; where every root is named, the first one without parent is main. */
function mainAgentOf({ roots }: PrefixTree): string | null {
  if (roots.some(({ call }) => call.agentId === null)) return null;
  return roots.find(({ call }) => call.parentAgentId === null)?.call.agentId ?? null;
}

function rootOf(node: PrefixNode): PrefixNode {
  let at = node;
  while (at.parent !== null) at = at.parent;
  return at;
}

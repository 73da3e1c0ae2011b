import type { PrefixNode, PrefixTree } from '../tree/prefixTree.ts';
import { carriesInstruction, openingUserTexts } from './opening.ts';
import type { RootMarks } from './rootMarks.ts';

const SHOWN = 120;

/**
 * The root of the main thread: the earliest one that carries the instruction and has no mark of another
 * role. Where a recording has no instruction or no messages, the earliest unmarked root.
 */
export function findMain(tree: PrefixTree, marks: RootMarks, instruction: string | null): PrefixNode | null {
  const candidates = tree.roots.filter(
    (root) =>
      carriesInstruction(root, instruction) !== 'no' &&
      !marks.hasAgentHeader(root) &&
      !marks.hasNoTools(root) &&
      !marks.hasSampledTask(root) &&
      !marks.isForeignFork(root),
  );
  return candidates.find((root) => carriesInstruction(root, instruction) === 'yes') ?? candidates[0] ?? null;
}

/** Shows what every root began with, for a rollout whose main thread was not found. */
export function describeRoots(tree: PrefixTree): string {
  if (tree.roots.length === 0) return 'the rollout made no call';
  const openings = tree.roots.map((root) => {
    const text = openingUserTexts(root)[0]?.replace(/\s+/gu, ' ').trim();
    return `${root.call.callId}: ${text === undefined ? 'no user message' : JSON.stringify(text.slice(0, SHOWN))}`;
  });
  return `no root carries the instruction; roots begin with ${openings.join(', ')}`;
}

import type { PrefixNode } from '../tree/prefixTree.ts';
import { carriedTurns } from './carriedTurns.ts';
import { findSummary, summaryShingles } from './findSummary.ts';
import { memo } from './memo.ts';
import { carriesInstruction } from './opening.ts';
import type { RootMarks } from './rootMarks.ts';
import type { Kind, Segment } from './segment.ts';

/** Visits calls in the order they were made and gives each its kind and, on the main thread, its segment. */
export class MainWalk {
  readonly kinds = new Map<PrefixNode, Kind>();
  readonly segments: Segment[] = [];
  private readonly segmentOf = new Map<PrefixNode, Segment>();
  private readonly visited: PrefixNode[] = [];
  private readonly summaryOf = memo(summaryShingles);
  /** main turns in the history that a call leaves, itself and what that history carries included */
  private readonly turnsIn = new Map<PrefixNode, number>();
  private mainTurns = 0;
  private readonly marks: RootMarks;
  private readonly mainRoot: PrefixNode | null;
  private readonly instruction: string | null;

  constructor(marks: RootMarks, mainRoot: PrefixNode | null, instruction: string | null) {
    this.marks = marks;
    this.mainRoot = mainRoot;
    this.instruction = instruction;
  }

  visit(node: PrefixNode): void {
    if (node.parent !== null) this.visitChild(node, node.parent);
    else if (node === this.mainRoot) this.open(node, 'start', []);
    else if (this.mainRoot === null || this.segments.length === 0) this.kinds.set(node, this.kindAside(node));
    else this.visitLaterRoot(node, this.mainRoot);
    this.visited.push(node);
  }

  private visitChild(node: PrefixNode, parent: PrefixNode): void {
    const inherited = this.kinds.get(parent) as Kind;
    if (inherited !== 'main') this.kinds.set(node, inherited);
    else if (this.marks.hasAgentHeader(node)) this.kinds.set(node, 'subagent');
    else {
      const carried = this.carriedBy(node);
      if (carried.length > 0) this.open(node, 'rewritten', carried);
      else this.join(node, this.segmentOf.get(parent) as Segment);
    }
  }

  private visitLaterRoot(root: PrefixNode, mainRoot: PrefixNode): void {
    if (this.marks.hasAgentHeader(root) || this.marks.hasNoTools(root)) {
      this.kinds.set(root, this.kindAside(root));
      return;
    }
    const twin = this.visited.find(
      (node) => this.isMain(node) && node.parent === null && sameInput(node, root),
    );
    if (twin !== undefined) {
      this.join(root, this.segmentOf.get(twin) as Segment);
      return;
    }
    const possible = this.visited.filter((node) => this.kinds.get(node) !== 'subagent');
    const summary = findSummary(root, possible, this.summaryOf);
    if (summary !== null) {
      if (this.isMain(summary)) this.mainTurns--;
      this.kinds.set(summary, 'compaction');
      this.open(root, 'compaction', this.carriedBy(root));
      return;
    }
    const related = this.marks.areRelated(root, mainRoot);
    const carried = related ? this.carriedBy(root) : [];
    if (carried.length > 0) this.open(root, 'rewritten', carried);
    else if (related && this.beginsAgain(root, mainRoot))
      this.join(root, this.segmentOf.get(mainRoot) as Segment);
    else this.kinds.set(root, this.kindAside(root));
  }

  /** The same task asked once more, under an edited prompt and without any of its turns. */
  private beginsAgain(root: PrefixNode, mainRoot: PrefixNode): boolean {
    const [a, b] = [root.call.threadKey, mainRoot.call.threadKey];
    const sameThread = a === b || a === null || b === null;
    return (
      sameThread && carriesInstruction(root, this.instruction) === 'yes' && !this.marks.hasSampledTask(root)
    );
  }

  /** A root beside the main thread works on a task of its own, or serves the harness. */
  private kindAside(root: PrefixNode): Kind {
    if (this.marks.hasAgentHeader(root) || this.marks.hasSampledTask(root)) return 'subagent';
    if (this.marks.isForeignFork(root)) return 'utility';
    const tools = this.marks.toolsOf(root);
    if (tools !== null) return tools.length > 0 ? 'subagent' : 'utility';
    return root.children.length > 0 || (root.call.response?.toolCalls.length ?? 0) > 0
      ? 'subagent'
      : 'utility';
  }

  /** Turns that a call carries and neither extends nor finds carried in the history it extends. */
  private carriedBy(node: PrefixNode): readonly PrefixNode[] {
    // On a thread that never branched there is nothing else that could be carried.
    if (node.parent !== null && this.turnsIn.get(node.parent) === this.mainTurns) return [];
    const inHistory = new Set<PrefixNode>();
    for (let at = node.parent; at !== null; at = at.parent) {
      inHistory.add(at);
      for (const turn of this.segmentOf.get(at)?.carried ?? []) inHistory.add(turn);
    }
    const others = this.visited.filter((turn) => this.isMain(turn) && !inHistory.has(turn));
    return carriedTurns(node, others, (this.mainRoot as PrefixNode).envTokenIds);
  }

  private isMain(node: PrefixNode): boolean {
    return this.kinds.get(node) === 'main';
  }

  private open(node: PrefixNode, opening: Segment['opening'], carried: readonly PrefixNode[]): void {
    const segment: Segment = { opening, nodes: [], carried };
    this.segments.push(segment);
    this.join(node, segment);
    this.turnsIn.set(node, (this.turnsIn.get(node) ?? 0) + carried.length);
  }

  private join(node: PrefixNode, segment: Segment): void {
    this.kinds.set(node, 'main');
    this.mainTurns++;
    this.turnsIn.set(node, (node.parent === null ? 0 : (this.turnsIn.get(node.parent) ?? 0)) + 1);
    this.segmentOf.set(node, segment);
    segment.nodes.push(node);
  }
}

function sameInput(a: PrefixNode, b: PrefixNode): boolean {
  return a.inputLength === b.inputLength && a.envTokenIds.every((id, i) => id === b.envTokenIds[i]);
}

import type { PrefixNode } from '../tree/prefixTree.ts';

/** What a call was made for. */
export type Kind = 'main' | 'subagent' | 'compaction' | 'utility';

/** A stretch of the main thread within which each history extends the last. */
export interface Segment {
  /** the task prompt, the prompt after a compaction, or a history that the harness rewrote */
  readonly opening: 'start' | 'compaction' | 'rewritten';
  /** its main calls, in call order; several may stand at its start when the harness began again */
  readonly nodes: PrefixNode[];
  /** main turns of earlier segments that its first input carries without extending them */
  readonly carried: readonly PrefixNode[];
}

/** One call as `show` prints it. */
export interface ShownCall {
  readonly callId: string;
  readonly seq: number;
  /** The call whose history this one extends; null for a root. */
  readonly parentCallId: string | null;
  /** main, subagent, compaction or utility */
  readonly kind: string;
  /** trained, context or dropped */
  readonly verdict: string;
  readonly reason: string | null;
  /** Number of its segment of the main thread, from 1; null beside it. */
  readonly segment: number | null;
  /** Why a segment begins at this call; null where none does. */
  readonly opens: 'start' | 'compaction' | 'rewritten' | null;
  readonly finishReason: string;
  readonly policyVersions: readonly string[];
  /** Tokens of the whole input. */
  readonly inputTokens: number;
  readonly envTokenIds: readonly number[];
  readonly sampledTokenIds: readonly number[];
  /** Decoded with the tokenizer of the run; null where it is not at hand. */
  readonly envText: string | null;
  readonly sampledText: string | null;
}

/** A call that is no part of the tree: it failed, or came too late. */
export interface AsideCall {
  readonly callId: string;
  readonly seq: number;
  readonly verdict: string;
  readonly reason: string | null;
  readonly detail: string | null;
}

/** One attempt at the rollout. */
export interface ShownAttempt {
  readonly attempt: number;
  readonly isolation: string | null;
  /** How the harness ended; null while it runs. */
  readonly outcome: string | null;
  readonly reward: number | null;
  readonly criteria: Readonly<Record<string, number>>;
  /** Why there is no reward, where the verifier said so. */
  readonly verificationFailed: string | null;
  readonly segments: number;
  readonly leaves: number;
  /** Why nothing of the rollout is trained; null when something is. */
  readonly drop: string | null;
  readonly dropDetail: string | null;
  readonly calls: readonly ShownCall[];
  readonly aside: readonly AsideCall[];
  /** Whether the verdicts made anew are those on record; null before there are any. */
  readonly verdictsAgree: boolean | null;
  readonly tokens: { readonly total: number; readonly sampled: number; readonly trained: number };
}

/** Everything `show` says about a rollout. */
export interface ShownRollout {
  readonly rolloutId: string;
  readonly groupId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly harness: string;
  readonly purpose: string;
  readonly instruction: string | null;
  /** The attempt that counts; null when none does, undefined before that is settled. */
  readonly scoredAttempt: number | null | undefined;
  readonly outcome: string | null;
  readonly attempts: readonly ShownAttempt[];
  readonly advantage: number | null;
  readonly group: {
    /** `open`, `scored`, or why it was dropped. */
    readonly outcome: string;
    readonly size: number;
    readonly scored: number | null;
    readonly mean: number | null;
    readonly std: number | null;
  };
  /** The training batch that its sample is in. */
  readonly batchId: string | null;
  /** What became of it, in words. */
  readonly fate: string;
}

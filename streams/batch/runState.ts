import type {
  GroupDropped,
  GroupScored,
  PolicyPublished,
  RolloutScored,
  RunConfigured,
  RunEnded,
  TrainingBatchCut,
} from '../../schemas/generated/events.ts';

/** Everything that the second hop accepts. */
export type RunEvent =
  | RunConfigured
  | RolloutScored
  | GroupScored
  | GroupDropped
  | PolicyPublished
  | RunEnded;

/** A record of `scored-groups` with its offset: the second hop depends on recorded order. */
export interface RunRecord {
  readonly event: RunEvent;
  readonly offset: number;
}

/** A group that is not cut yet: arriving until its manifest is there, then ready. */
export interface PendingGroup {
  readonly groupId: string;
  /** offset of its first record */
  readonly firstOffset: number;
  readonly rollouts: RolloutScored[];
  ready: boolean;
}

/** State of one run in the second hop. Owned by it and changed in place. */
export interface RunState {
  readonly runId: string;
  /** number of the next batch */
  nextBatch: number;
  trainedThroughBatch: number;
  /** index of the newest policy, from 0; -1 while none was published */
  policyStep: number;
  /** the newest versions, oldest first; the last one has `policyStep` */
  readonly versions: string[];
  /** groups in the order of their first record */
  readonly groups: Map<string, PendingGroup>;
  /** groups found stale since the last manifest */
  staleGroups: string[];
  /** while a restored run reads again what an earlier owner consumed */
  readonly replay: { readonly through: number; readonly pending: ReadonlySet<string> } | null;
}

/** A run of which nothing is known yet. */
export function emptyRun(runId: string): RunState {
  return {
    runId,
    nextBatch: 0,
    trainedThroughBatch: -1,
    policyStep: -1,
    versions: [],
    groups: new Map(),
    staleGroups: [],
    replay: null,
  };
}

/**
 * The state right after a manifest was written. Feed it the records of the run again, from the oldest one
 * of `pendingGroups` (or any earlier one): up to `inputOffset` only those groups are taken in, and nothing
 * is cut.
 */
export function restoreFromManifest(manifest: TrainingBatchCut): RunState {
  return {
    ...emptyRun(manifest.runId),
    nextBatch: manifest.batchNumber + 1,
    trainedThroughBatch: manifest.trainedThroughBatch,
    policyStep: manifest.policyStep,
    versions: [...manifest.policyVersions],
    replay: { through: manifest.inputOffset, pending: new Set(manifest.pendingGroups) },
  };
}

/** Offset of the oldest record that the run still needs; null when it needs none. */
export function oldestNeeded({ groups }: RunState): number | null {
  let oldest: number | null = null;
  for (const { firstOffset } of groups.values())
    if (oldest === null || firstOffset < oldest) oldest = firstOffset;
  return oldest;
}

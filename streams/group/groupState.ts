import type {
  GroupClosed,
  GroupDropped,
  GroupScored,
  ModelCalled,
  ModelCallFailed,
  RewardGiven,
  RolloutAbandoned,
  RolloutDropped,
  RolloutEnded,
  RolloutRequested,
  RolloutScored,
  RolloutSealed,
  RolloutSettled,
  RolloutStarted,
  TreeJudged,
  VerificationFailed,
} from '../../schemas/generated/events.ts';
import { type CallTree, emptyTree, hasCall } from '../tree/callTree.ts';
import { evolve } from '../tree/evolve.ts';

/** A call's record could not be read: it counts as received and failed. */
export interface CallUnreadable {
  readonly type: 'CallUnreadable';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  readonly attempt: number;
  readonly callId: string;
}

/** A record of the group could not be read, nor told what it was: the group cannot be trusted. */
export interface GroupCorrupt {
  readonly type: 'GroupCorrupt';
  readonly runId: string;
  readonly groupId: string;
}

/** Everything that the first hop accepts, in any order. */
export type GroupEvent =
  | RolloutRequested
  | RolloutStarted
  | RolloutSealed
  | RolloutEnded
  | RolloutAbandoned
  | RolloutSettled
  | ModelCalled
  | ModelCallFailed
  | RewardGiven
  | VerificationFailed
  | CallUnreadable
  | GroupCorrupt;

/** What the first hop emits when a group closes. */
export type GroupOutput =
  | TreeJudged
  | RolloutDropped
  | GroupDropped
  | RolloutScored
  | GroupScored
  | GroupClosed;

/** What is known of one attempt. */
export interface AttemptState {
  readonly tree: CallTree;
  readonly failed: Map<string, ModelCallFailed>;
  readonly unreadable: Set<string>;
  sealed: RolloutSealed | null;
  reward: RewardGiven | null;
}

/** What is known of one rollout. */
export interface RolloutState {
  readonly rolloutId: string;
  request: RolloutRequested | null;
  settled: RolloutSettled | null;
  readonly attempts: Map<number, AttemptState>;
}

/** What is known of one group. Owned by the first hop, which grows it in place. */
export interface GroupState {
  readonly groupId: string;
  runId: string;
  readonly rollouts: Map<string, RolloutState>;
  corrupt: boolean;
}

/** A group of which nothing is known yet. */
export function emptyGroup(groupId: string): GroupState {
  return { groupId, runId: '', rollouts: new Map(), corrupt: false };
}

/**
 * Takes an event in. The request of the first attempt, the first seal, settlement and reward win; a repeat changes nothing, and a
 * call that was received stays what it was. How a rollout started, ended or was given up is for the
 * dispatcher, which settles it; nothing here depends on it.
 */
export function absorb(group: GroupState, event: GroupEvent): void {
  group.runId ||= event.runId;
  switch (event.type) {
    case 'GroupCorrupt':
      group.corrupt = true;
      return;
    case 'RolloutRequested': {
      const rollout = rolloutOf(group, event);
      if (rollout.request === null || event.attempt < rollout.request.attempt) rollout.request = event;
      return;
    }
    case 'RolloutSettled':
      rolloutOf(group, event).settled ??= event;
      return;
    case 'RolloutSealed':
      attemptOf(group, event).sealed ??= event;
      return;
    case 'RewardGiven':
      attemptOf(group, event).reward ??= event;
      return;
    case 'ModelCalled': {
      const attempt = attemptOf(group, event);
      if (!isReceived(attempt, event.callId)) evolve(attempt.tree, event);
      return;
    }
    case 'ModelCallFailed': {
      const attempt = attemptOf(group, event);
      if (!isReceived(attempt, event.callId)) attempt.failed.set(event.callId, event);
      return;
    }
    case 'CallUnreadable': {
      const attempt = attemptOf(group, event);
      if (!isReceived(attempt, event.callId)) attempt.unreadable.add(event.callId);
      return;
    }
    default:
      return;
  }
}

/** Whether any record of a call is in. */
export function isReceived(attempt: AttemptState, callId: string): boolean {
  return hasCall(attempt.tree, callId) || attempt.failed.has(callId) || attempt.unreadable.has(callId);
}

/** Calls of an attempt that are in. */
export function receivedCount({ tree, failed, unreadable }: AttemptState): number {
  return tree.nodes.size + tree.waitingIds.size + failed.size + unreadable.size;
}

function rolloutOf(group: GroupState, { rolloutId }: { readonly rolloutId: string }): RolloutState {
  let rollout = group.rollouts.get(rolloutId);
  if (rollout === undefined) {
    rollout = { rolloutId, request: null, settled: null, attempts: new Map() };
    group.rollouts.set(rolloutId, rollout);
  }
  return rollout;
}

function attemptOf(
  group: GroupState,
  event: { readonly rolloutId: string; readonly attempt: number },
): AttemptState {
  const { attempts } = rolloutOf(group, event);
  let attempt = attempts.get(event.attempt);
  if (attempt === undefined) {
    attempt = { tree: emptyTree(), failed: new Map(), unreadable: new Set(), sealed: null, reward: null };
    attempts.set(event.attempt, attempt);
  }
  return attempt;
}

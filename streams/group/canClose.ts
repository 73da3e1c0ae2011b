import {
  type AttemptState,
  type GroupState,
  isReceived,
  type RolloutState,
  receivedCount,
} from './groupState.ts';

/** An attempt whose seal will never come, by word of the dispatcher: it is not waited for. */
const LOST = 'lost';

/**
 * Whether a group is complete: `groupSize` rollouts are settled, their requests are in, and of every attempt
 * that the settlements name the sealed calls are in, with the reward of the one that counts. Topics are read
 * in any order, so a settlement may be here before what it speaks of. No timer decides.
 */
export function canClose(group: GroupState): boolean {
  if (group.corrupt) return true;
  const rollouts = [...group.rollouts.values()];
  const size = Math.max(0, ...rollouts.map((rollout) => rollout.request?.groupSize ?? 0));
  const settled = rollouts.filter((rollout) => rollout.settled !== null);
  return size > 0 && settled.length >= size && settled.every(isComplete);
}

function isComplete({ request, settled, attempts }: RolloutState): boolean {
  if (request === null || settled === null) return false;
  const { scoredAttempt } = settled;
  if (scoredAttempt !== null && (attempts.get(scoredAttempt)?.reward ?? null) === null) return false;
  const awaited = settled.attempts.filter(({ outcome }) => outcome !== LOST).map(({ attempt }) => attempt);
  if (scoredAttempt !== null) awaited.push(scoredAttempt);
  return awaited.every((attempt) => hasSealedCalls(attempts.get(attempt)));
}

function hasSealedCalls(attempt: AttemptState | undefined): boolean {
  if (attempt === undefined || attempt.sealed === null) return false;
  const { callIds, callCount } = attempt.sealed;
  if (callIds === null) return receivedCount(attempt) >= callCount;
  return callIds.every((callId) => isReceived(attempt, callId));
}

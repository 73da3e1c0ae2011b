import type { EspalierEvent } from '../../schemas/generated/events.ts';
import type { RolloutState } from './runState.ts';

/**
 * What is to be said about an open rollout now: nothing, a retry, or that it is settled. Only the
 * dispatcher decides this, so no race between a verifier and a retry can change a result. An
 * attempt counts when it has a reward; infrastructure failures are retried, then abandoned.
 */
export function settle(rollout: RolloutState, maxAttempts: number, now: number): readonly EspalierEvent[] {
  const { request, attempts } = rollout;
  const { runId, groupId, rolloutId } = request;
  const last = attempts.at(-1);
  if (last === undefined) return [];
  const outcomes = attempts.map((a, attempt) => ({ attempt, outcome: a.outcome ?? 'unknown' }));
  const scored = attempts.findIndex((a) => a.result === 'rewarded' && a.outcome !== undefined);
  if (scored >= 0) {
    const outcome = attempts[scored]!.outcome!;
    return [
      {
        type: 'RolloutSettled',
        runId,
        groupId,
        rolloutId,
        scoredAttempt: scored,
        outcome,
        attempts: outcomes,
        at: now,
      },
    ];
  }
  const failed =
    last.outcome === 'infrastructureFailure' || (last.outcome !== undefined && last.result === 'failed');
  if (!failed) return [];
  if (attempts.length < maxAttempts) return [{ ...request, attempt: attempts.length, at: now }];
  const reason = last.outcome === 'infrastructureFailure' ? 'infrastructure' : 'verification';
  return [
    { type: 'RolloutAbandoned', runId, groupId, rolloutId, reason, at: now },
    {
      type: 'RolloutSettled',
      runId,
      groupId,
      rolloutId,
      scoredAttempt: null,
      outcome: 'infrastructureFailure',
      attempts: outcomes,
      at: now,
    },
  ];
}

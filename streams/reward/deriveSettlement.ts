import type { RolloutSettled } from '../../schemas/generated/events.ts';

/** How one attempt of a recorded rollout went. */
export interface AttemptOutcomes {
  readonly attempt: number;
  readonly rewarded: boolean;
  /** `outcome` of its RolloutEnded, where there is one */
  readonly outcome: string | null;
  readonly sealed: boolean;
}

/**
 * Settles a rollout of a recording that nobody settled: the highest rewarded attempt counts, else none. An
 * attempt that failed for infrastructure reasons never counts, whatever a verifier said of its workspace.
 */
export function deriveSettlement(
  rollout: { readonly runId: string; readonly groupId: string; readonly rolloutId: string },
  attempts: readonly AttemptOutcomes[],
): RolloutSettled {
  const ordered = attempts.toSorted((a, b) => a.attempt - b.attempt);
  const scored = ordered.findLast(({ rewarded, outcome }) => rewarded && outcome !== 'infrastructureFailure');
  const { runId, groupId, rolloutId } = rollout;
  return {
    type: 'RolloutSettled',
    runId,
    groupId,
    rolloutId,
    scoredAttempt: scored?.attempt ?? null,
    outcome: (scored ?? ordered.at(-1))?.outcome ?? (scored === undefined ? 'noReward' : 'completed'),
    attempts: ordered
      .filter(({ sealed }) => sealed)
      .map(({ attempt, outcome }) => ({ attempt, outcome: outcome ?? 'completed' })),
    at: 0,
  };
}

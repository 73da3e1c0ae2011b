import type { EventLog } from '../../../infra/log/eventLog.ts';
import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import { readEvents, readRecords } from '../events/readEvents.ts';

/** A rollout of a run in one line. */
export interface RolloutSummary {
  readonly rolloutId: string;
  readonly groupId: string;
  readonly taskId: string;
  readonly harness: string;
  readonly purpose: string;
  attempts: number;
  calls: number;
  /** How the attempt that counts ended; `open` before the rollout is settled. */
  outcome: string;
  /** Reward of the attempt that counts, null without one. */
  reward: number | null;
  /** `trained`, `open`, or why it is not trained. */
  fate: string;
}

interface Folding extends RolloutSummary {
  readonly rewards: Map<number, number>;
  scoredAttempt: number | null;
  dropped: string | undefined;
}

/** All rollouts of a run, in the order in which they were requested. */
export async function rolloutSummaries(log: EventLog, runId: string): Promise<readonly RolloutSummary[]> {
  const rollouts = new Map<string, Folding>();
  const groupFate = new Map<string, string>();
  const topics = ['rollout-requests', 'rollouts', 'rewards', 'verdicts'] as const;
  for await (const { event } of readEvents(log, { topics, runId })) fold(rollouts, groupFate, event);
  for await (const { headers } of readRecords(log, { topics: ['model-calls'], runId })) {
    const rollout = rollouts.get(headers.rollout ?? '');
    if (rollout !== undefined) rollout.calls++;
  }
  for await (const { headers } of readRecords(log, { topics: ['training-batches'], runId })) {
    const rollout = rollouts.get(headers.rollout ?? '');
    if (rollout !== undefined) rollout.fate = 'trained';
  }
  return [...rollouts.values()].map(({ rewards, scoredAttempt, dropped, ...summary }) => {
    const reward = scoredAttempt === null ? null : (rewards.get(scoredAttempt) ?? null);
    const fate =
      summary.fate === 'trained' ? 'trained' : (dropped ?? groupFate.get(summary.groupId) ?? 'open');
    return { ...summary, reward, fate };
  });
}

function fold(rollouts: Map<string, Folding>, groups: Map<string, string>, event: EspalierEvent): void {
  if (event.type === 'GroupDropped') groups.set(event.groupId, event.reason);
  if (!('rolloutId' in event)) return;
  if (event.type === 'RolloutRequested') {
    const known = rollouts.get(event.rolloutId);
    if (known === undefined) rollouts.set(event.rolloutId, started(event));
    else known.attempts = Math.max(known.attempts, event.attempt + 1);
    return;
  }
  const rollout = rollouts.get(event.rolloutId);
  if (rollout === undefined) return;
  if (event.type === 'RewardGiven' && !rollout.rewards.has(event.attempt)) {
    rollout.rewards.set(event.attempt, event.reward);
  } else if (event.type === 'RolloutStarted') {
    rollout.attempts = Math.max(rollout.attempts, event.attempt + 1);
  } else if (event.type === 'RolloutDropped') rollout.dropped = event.reason;
  else if (event.type === 'RolloutSettled') {
    rollout.scoredAttempt = event.scoredAttempt;
    rollout.outcome = event.outcome;
  }
}

function started(event: EspalierEvent & { type: 'RolloutRequested' }): Folding {
  const { rolloutId, groupId, taskId, harness, purpose, attempt } = event;
  return {
    rolloutId,
    groupId,
    taskId,
    harness,
    purpose,
    attempts: attempt + 1,
    calls: 0,
    outcome: 'open',
    reward: null,
    fate: 'open',
    rewards: new Map(),
    scoredAttempt: null,
    dropped: undefined,
  };
}

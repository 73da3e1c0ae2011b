import { type DescribeOptions, describeAttempt } from './describeAttempt.ts';
import type { RolloutEvents } from './rolloutEvents.ts';
import type { ShownAttempt, ShownRollout } from './shownRollout.ts';

/**
 * Everything `show` says about a rollout, from its events alone: the trees are grown and judged
 * anew by the pipeline's own code.
 */
export function describeRollout(events: RolloutEvents, options: DescribeOptions): ShownRollout {
  const request = events.requested[0];
  const first = request ?? events.started[0] ?? events.calls[0];
  const settled = events.settled[0];
  const numbers = new Set([
    ...events.requested.map((e) => e.attempt),
    ...events.started.map((e) => e.attempt),
    ...events.calls.map((e) => e.attempt),
    ...events.ended.map((e) => e.attempt),
  ]);
  const attempts = [...numbers]
    .sort((a, b) => a - b)
    .filter((n) => hasHappened(events, n))
    .map((n) => describeAttempt(events, n, request?.instruction ?? null, options));
  const scored = events.scored[0];
  const groupScored = events.groupScored[0];
  const groupDropped = events.groupDropped[0];
  const batchId = events.samples[0]?.batchId ?? null;
  const rollout = {
    rolloutId: first?.rolloutId ?? '',
    groupId: first?.groupId ?? '',
    runId: first?.runId ?? '',
    taskId: request?.taskId ?? events.calls[0]?.taskId ?? '',
    harness: request?.harness ?? events.started[0]?.harness ?? '',
    purpose: request?.purpose ?? 'train',
    instruction: request?.instruction ?? null,
    scoredAttempt: settled?.scoredAttempt,
    outcome: settled?.outcome ?? null,
    attempts,
    advantage: scored?.advantage ?? null,
    group: {
      outcome: groupScored !== undefined ? 'scored' : (groupDropped?.reason ?? 'open'),
      size: groupScored?.size ?? request?.groupSize ?? 0,
      scored: groupScored?.rollouts.length ?? null,
      mean: groupScored?.mean ?? null,
      std: groupScored?.std ?? null,
    },
    batchId,
  };
  return { ...rollout, fate: fateOf(events, rollout) };
}

/** A request of an attempt that never started is no attempt yet. */
function hasHappened(events: RolloutEvents, attempt: number): boolean {
  return [events.started, events.calls, events.ended].some((list) => list.some((e) => e.attempt === attempt));
}

function fateOf(
  events: RolloutEvents,
  rollout: Pick<ShownRollout, 'batchId' | 'scoredAttempt' | 'outcome' | 'group'> & {
    readonly attempts: readonly ShownAttempt[];
  },
): string {
  if (rollout.batchId !== null) return `trained in batch ${rollout.batchId}`;
  const dropped = events.dropped.find((e) => e.reason !== 'unscoredAttempt') ?? events.dropped[0];
  if (dropped !== undefined)
    return `dropped: ${dropped.reason}${dropped.detail === null ? '' : ` (${dropped.detail})`}`;
  const group = events.groupDropped[0];
  if (group !== undefined)
    return `its group is dropped: ${group.reason}${group.detail === null ? '' : ` (${group.detail})`}`;
  if (rollout.group.outcome === 'scored') return 'its group waits for a batch';
  if (rollout.scoredAttempt === undefined) return 'running or waiting to be settled';
  if (rollout.scoredAttempt === null) return `settled without a reward: ${rollout.outcome ?? 'unknown'}`;
  return 'waits for the rest of its group';
}

import type { PolicyPublished, RolloutScored } from '../../schemas/generated/events.ts';
import type { RunState } from './runState.ts';

/**
 * Takes a published policy in. A version's step is the index of its first publication; repeats are ignored.
 * Only versions that may still be fresh are kept, so the state does not grow with the run.
 */
export function publish(run: RunState, event: PolicyPublished, maxOffPolicySteps: number): void {
  run.trainedThroughBatch = Math.max(run.trainedThroughBatch, event.trainedThroughBatch ?? -1);
  if (run.versions.includes(event.version)) return;
  run.versions.push(event.version);
  run.policyStep++;
  run.versions.splice(0, run.versions.length - (maxOffPolicySteps + 1));
}

/**
 * Policy steps between the newest policy and the oldest one that sampled a trained token of the group. A
 * version that was never published, or long ago, is one step older than all that are known: so is the policy
 * a run starts from when the trainer does not announce it.
 */
export function ageOf(run: RunState, rollouts: readonly RolloutScored[]): number {
  let age = 0;
  for (const { nodes } of rollouts) {
    for (const { tokenIds, sampledFrom, policySpans } of nodes) {
      if (sampledFrom === tokenIds.length) continue;
      if (policySpans.length === 0) age = Math.max(age, run.versions.length);
      for (const { version } of policySpans) {
        const index = run.versions.indexOf(version);
        age = Math.max(age, run.versions.length - 1 - index);
      }
    }
  }
  return run.versions.length === 0 ? 0 : age;
}

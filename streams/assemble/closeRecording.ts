import type { EspalierEvent, RolloutSettled } from '../../schemas/generated/events.ts';
import { concludeGroup } from '../group/concludeGroup.ts';
import { absorb, emptyGroup, type GroupEvent, type GroupOutput } from '../group/groupState.ts';
import type { PipelineConfig, PolicyVersions } from '../pipelineConfig.ts';
import { type AttemptOutcomes, deriveSettlement } from '../reward/deriveSettlement.ts';
import { groupBy } from './groupBy.ts';

/** An event of a group that a recording can hold. */
export type RecordedEvent = Extract<GroupEvent, EspalierEvent>;

/**
 * The first hop over a finished recording, groups sorted by groupId. Nothing is waited for: rollouts that
 * nobody settled are settled by what is there, and what is missing makes them incomplete.
 */
export function closeRecording(
  events: readonly RecordedEvent[],
  config: PipelineConfig,
  versionsOf: (runId: string) => PolicyVersions,
): readonly GroupOutput[] {
  return [...groupBy(events, ({ groupId }) => groupId)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([groupId, ofGroup]) => {
      const group = emptyGroup(groupId);
      for (const event of [...ofGroup, ...missingSettlements(ofGroup)]) absorb(group, event);
      return concludeGroup(group, config, versionsOf(group.runId));
    });
}

function missingSettlements(events: readonly RecordedEvent[]): readonly RolloutSettled[] {
  return [...groupBy(events, ({ rolloutId }) => rolloutId).values()]
    .filter((ofRollout) => !ofRollout.some(({ type }) => type === 'RolloutSettled'))
    .map((ofRollout) => deriveSettlement(ofRollout[0] as RecordedEvent, attemptsOf(ofRollout)));
}

function attemptsOf(events: readonly RecordedEvent[]): readonly AttemptOutcomes[] {
  const withAttempt = events.filter((event) => 'attempt' in event);
  return [...groupBy(withAttempt, ({ attempt }) => attempt)].map(([attempt, ofAttempt]) => ({
    attempt,
    rewarded: ofAttempt.some(({ type }) => type === 'RewardGiven'),
    outcome: ofAttempt.find((event) => event.type === 'RolloutEnded')?.outcome ?? null,
    sealed: ofAttempt.some(({ type }) => type === 'RolloutSealed'),
  }));
}

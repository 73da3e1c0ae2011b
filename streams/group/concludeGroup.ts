import type {
  GroupClosed,
  GroupDropped,
  GroupScored,
  RolloutScored,
} from '../../schemas/generated/events.ts';
import { type GroupScore, scoreGroup } from '../advantage/scoreGroup.ts';
import type { PipelineConfig, PolicyVersions } from '../pipelineConfig.ts';
import { CANCELLED, concludeRollout, type RolloutConclusion, type ScoredAttempt } from './concludeRollout.ts';
import { corruptGroup } from './corruptGroup.ts';
import type { GroupOutput, GroupState, RolloutState } from './groupState.ts';
import { receivedCallIds } from './receivedCallIds.ts';

/** Everything that leaves the first hop for a closed group, rollouts sorted by id, its marker last. */
export function concludeGroup(
  group: GroupState,
  config: PipelineConfig,
  versions: PolicyVersions,
): readonly GroupOutput[] {
  if (group.corrupt) return corruptGroup(group);
  const rollouts = [...group.rollouts.values()].sort((a, b) => (a.rolloutId < b.rolloutId ? -1 : 1));
  const conclusions = rollouts.map((rollout) => concludeRollout(group, rollout, config, versions));
  const scored = conclusions.flatMap((conclusion) => conclusion.scored ?? []);
  const score = scoreGroup(
    scored.map(({ reward }) => reward),
    config,
  );
  const loss = lossOf(rollouts, score);
  const verdicts = conclusions.flatMap(({ out }) => out);
  if (loss !== null)
    return [...verdicts, dropped(group, loss.reason, loss.detail), closed(group, loss.reason)];
  return [...verdicts, ...scores(group, rollouts, conclusions, scored, score), closed(group, 'scored')];
}

function lossOf(
  rollouts: readonly RolloutState[],
  score: GroupScore,
): { reason: string; detail: string | null } | null {
  if (rollouts.some(({ request }) => request?.purpose === 'eval'))
    return { reason: 'evaluation', detail: null };
  if (rollouts.some(({ settled }) => settled?.outcome === CANCELLED))
    return { reason: CANCELLED, detail: null };
  return score.drop === null ? null : { reason: score.drop, detail: score.detail };
}

function scores(
  group: GroupState,
  rollouts: readonly RolloutState[],
  conclusions: readonly RolloutConclusion[],
  scored: readonly ScoredAttempt[],
  score: GroupScore,
): readonly (RolloutScored | GroupScored)[] {
  const ids = { runId: group.runId, groupId: group.groupId };
  const size = Math.max(rollouts.length, ...rollouts.map(({ request }) => request?.groupSize ?? 0));
  const advantages = score.drop === null ? score.advantages : [];
  const about = (rollout: RolloutState) => ({
    taskId: rollout.request?.taskId ?? '',
    harness: rollout.request?.harness ?? '',
  });
  const samples = scored.map(
    ({ rollout, attempt, reward, pruned }, i): RolloutScored => ({
      type: 'RolloutScored',
      ...ids,
      rolloutId: rollout.rolloutId,
      attempt,
      ...about(rollout),
      ...pruned,
      reward,
      advantage: advantages[i] ?? null,
      group: { size, scored: scored.length, ...score.stats },
    }),
  );
  const excluded = conclusions.flatMap(({ excludedReward }) => excludedReward ?? []);
  const manifest: GroupScored = {
    type: 'GroupScored',
    ...ids,
    ...about((scored[0] as ScoredAttempt).rollout),
    rollouts: samples.map(({ rolloutId, reward, advantage }) => ({ rolloutId, reward, advantage })),
    size,
    ...score.stats,
    excludedMeanReward: excluded.length === 0 ? null : excluded.reduce((a, b) => a + b, 0) / excluded.length,
  };
  return [...samples, manifest];
}

/** A group that is not trained, and why. */
function dropped({ runId, groupId }: GroupState, reason: string, detail: string | null): GroupDropped {
  return { type: 'GroupDropped', runId, groupId, reason, detail };
}

function closed(group: GroupState, outcome: string): GroupClosed {
  const { runId, groupId } = group;
  return { type: 'GroupClosed', runId, groupId, outcome, callIds: receivedCallIds(group) };
}

import type { RolloutDropped, TreeJudged } from '../../schemas/generated/events.ts';
import type { PipelineConfig, PolicyVersions } from '../pipelineConfig.ts';
import type { AttemptState, GroupState, RolloutState } from './groupState.ts';
import { type AttemptJudgement, allDropped, judgeAttempt } from './judgeAttempt.ts';
import { encodedBytes, type PrunedTree, pruneTree } from './pruneTree.ts';

/** A rollout that enters its group's statistics: settled with a reward, and something to train on. */
export interface ScoredAttempt {
  readonly rollout: RolloutState;
  readonly attempt: number;
  readonly reward: number;
  readonly pruned: PrunedTree;
}

/** What becomes of a rollout when its group closes. */
export interface RolloutConclusion {
  readonly out: readonly (TreeJudged | RolloutDropped)[];
  readonly scored: ScoredAttempt | null;
  /** reward of a rollout that is not scored all the same */
  readonly excludedReward: number | null;
}

/** Settlement outcome of a rollout that was called off. */
export const CANCELLED = 'cancelled';

/** Judges all attempts of a rollout; at most the one that counts is scored. */
export function concludeRollout(
  group: GroupState,
  rollout: RolloutState,
  config: PipelineConfig,
  versions: PolicyVersions,
): RolloutConclusion {
  const ids = { runId: group.runId, groupId: group.groupId, rolloutId: rollout.rolloutId };
  const facts = { instruction: rollout.request?.instruction ?? null, versions, maxLeaves: config.maxLeaves };
  const out: (TreeJudged | RolloutDropped)[] = [];
  const drop = (attempt: number | null, reason: string, detail: string | null) =>
    out.push({ type: 'RolloutDropped', ...ids, attempt, reason, detail });

  const counted = rollout.settled?.scoredAttempt ?? null;
  const reward = counted === null ? null : (rollout.attempts.get(counted)?.reward?.reward ?? null);
  const numbers = [...rollout.attempts.keys()].sort((a, b) => a - b);
  const last = numbers.at(-1) ?? null;
  let scored: ScoredAttempt | null = null;
  for (const attempt of numbers) {
    const judgement = judgeAttempt(rollout.attempts.get(attempt) as AttemptState, facts);
    const loss = attempt === counted ? lossOf(judgement, reward, config) : null;
    const keeps = attempt === counted && loss === null && reward !== null;
    if (judgement.verdicts.length > 0) out.push(judged({ ...ids, attempt }, judgement, keeps));
    if (keeps) scored = { rollout, attempt, reward, pruned: pruneTree(judgement.kept) };
    else if (loss !== null) drop(attempt, loss.reason, loss.detail);
    else if (counted !== null || attempt !== last) drop(attempt, 'unscoredAttempt', null);
  }
  if (counted === null) {
    const outcome = rollout.settled?.outcome ?? 'not settled';
    drop(last, outcome === CANCELLED ? CANCELLED : 'infrastructure', outcome);
  } else if (!rollout.attempts.has(counted)) drop(counted, 'incomplete', 'the attempt left no record');
  return { out, scored, excludedReward: scored === null ? reward : null };
}

function judged(
  ids: { runId: string; groupId: string; rolloutId: string; attempt: number },
  judgement: AttemptJudgement,
  keeps: boolean,
): TreeJudged {
  const { segments, leaves, verdicts, drop, detail } = judgement;
  return {
    type: 'TreeJudged',
    ...ids,
    segments,
    leaves,
    verdicts: keeps ? verdicts : allDropped(verdicts),
    diagnostic: drop === 'noMainThread' ? detail : null,
  };
}

/** Why the attempt that counts leaves nothing to train; null when it is kept. */
function lossOf(
  judgement: AttemptJudgement,
  reward: number | null,
  config: PipelineConfig,
): { reason: string; detail: string | null } | null {
  if (judgement.incomplete !== null) return { reason: 'incomplete', detail: judgement.incomplete };
  if (reward === null) return { reason: 'incomplete', detail: 'its reward is missing' };
  if (judgement.drop !== null) return { reason: judgement.drop, detail: judgement.detail };
  const bytes = encodedBytes(judgement.kept);
  if (bytes <= config.maxRecordBytes) return null;
  return { reason: 'tooLarge', detail: `${bytes} bytes, at most ${config.maxRecordBytes}` };
}

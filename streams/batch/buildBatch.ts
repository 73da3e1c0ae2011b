import type { RolloutScored, TrainingBatchCut, TrainingSample } from '../../schemas/generated/events.ts';
import { batchIdOf } from '../../schemas/ids.ts';
import type { PipelineConfig } from '../pipelineConfig.ts';
import type { PendingGroup, RunState } from './runState.ts';
import { shuffle } from './shuffle.ts';

/**
 * The samples of a batch, shuffled over its groups, and then its manifest, which is also the checkpoint of
 * the run: what came before `inputOffset` is needed again only for `pendingGroups`.
 */
export function buildBatch(
  run: RunState,
  groups: readonly PendingGroup[],
  config: PipelineConfig,
  offset: number,
): readonly (TrainingSample | TrainingBatchCut)[] {
  const batchId = batchIdOf(run.runId, run.nextBatch);
  const rollouts = shuffle(
    groups.flatMap((group) => group.rollouts),
    config.seed,
    run.nextBatch,
  );
  const chosen = new Set(groups.map(({ groupId }) => groupId));
  const samples = rollouts.map(
    (rollout): TrainingSample => ({ ...rollout, type: 'TrainingSample', batchId }),
  );
  const manifest: TrainingBatchCut = {
    type: 'TrainingBatchCut',
    batchId,
    runId: run.runId,
    batchNumber: run.nextBatch,
    groups: [...chosen],
    samples: samples.length,
    tokens: {
      total: samples.reduce((sum, { tokens }) => sum + tokens.total, 0),
      trained: samples.reduce((sum, { tokens }) => sum + tokens.trained, 0),
    },
    harnesses: countHarnesses(rollouts),
    staleGroups: run.staleGroups,
    policyStep: run.policyStep,
    policyVersions: [...run.versions],
    trainedThroughBatch: run.trainedThroughBatch,
    inputOffset: offset,
    pendingGroups: [...run.groups.keys()].filter((groupId) => !chosen.has(groupId)),
    lossAggregation: config.lossAggregation,
    lossConstant: config.lossConstant,
    algorithm: config.algorithm,
  };
  return [...samples, manifest];
}

function countHarnesses(rollouts: readonly RolloutScored[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const harness of rollouts.map((rollout) => rollout.harness).sort())
    counts[harness] = (counts[harness] ?? 0) + 1;
  return counts;
}

import { join } from 'node:path';
import type { Outgoing } from '../../infra/log/eventLog.ts';
import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import type { TreeNode } from '../../schemas/generated/events.ts';
import { defaultRunConfig } from '../../schemas/runConfig.ts';
import { sampleCall, sampleRequest } from './sampleEvents.ts';

const node: TreeNode = {
  parent: -1,
  tokenIds: Int32Array.of(1, 2, 3, 4, 5),
  sampledFrom: 3,
  rolloutLogprobs: Float32Array.of(-0.5, -0.25),
  policySpans: [{ version: 'v0', start: 0, end: 2 }],
  callId: 'c-r1',
  temperature: 1,
  logprobsMode: 'processed',
  finishReason: 'stop',
};

/** A run of one trained rollout `r1` and one dropped `r2`, as the services would have recorded it. */
export function recordedRun(runId = 'run1'): readonly Outgoing[] {
  const rollout = (rolloutId: string, index: number, reward: number): Outgoing[] => {
    const id = { runId, groupId: 'g1', rolloutId, attempt: 0, at: 1 } as const;
    return [
      { topic: 'rollout-requests', event: sampleRequest({ runId, rolloutId, index }) },
      {
        topic: 'rollouts',
        event: {
          type: 'RolloutStarted',
          ...id,
          harness: 'alder',
          isolation: 'process',
          tokenizerDigest: null,
          templateDigest: null,
        },
      },
      { topic: 'model-calls', event: sampleCall({ runId, rolloutId, callId: `c-${rolloutId}` }) },
      {
        topic: 'rollouts',
        event: { type: 'RolloutSealed', ...id, callCount: 1, callIds: [`c-${rolloutId}`], undelivered: [] },
      },
      {
        topic: 'rollouts',
        event: {
          type: 'RolloutEnded',
          ...id,
          outcome: 'completed',
          exitCode: 0,
          detail: null,
          workspace: null,
          wallMs: 1,
        },
      },
      { topic: 'rewards', event: { type: 'RewardGiven', ...id, reward, criteria: {}, flag: null } },
      {
        topic: 'rollouts',
        event: { type: 'RolloutSettled', ...id, scoredAttempt: 0, outcome: 'scored', attempts: [] },
      },
    ];
  };
  const group = { size: 2, scored: 2, mean: 0.5, std: 0.5 };
  const tokens = { total: 5, trained: 2 };
  const scored = { runId, groupId: 'g1', rolloutId: 'r1', attempt: 0, taskId: 'task1', harness: 'alder' };
  const tree = { nodes: [node], keptLeaves: [0], reward: 1, advantage: 1, group, tokens };
  return [
    {
      topic: 'scored-groups',
      event: { type: 'RunConfigured', runId, config: JSON.stringify(defaultRunConfig()), digest: '', at: 5 },
    },
    ...rollout('r1', 0, 1),
    ...rollout('r2', 1, 0),
    {
      topic: 'verdicts',
      event: {
        type: 'RolloutDropped',
        runId,
        groupId: 'g1',
        rolloutId: 'r2',
        attempt: 0,
        reason: 'noMainThread',
        detail: null,
      },
    },
    { topic: 'scored-groups', event: { type: 'RolloutScored', ...scored, ...tree } },
    {
      topic: 'scored-groups',
      event: {
        type: 'GroupScored',
        runId,
        groupId: 'g1',
        taskId: 'task1',
        harness: 'alder',
        rollouts: [{ rolloutId: 'r1', reward: 1, advantage: 1 }],
        ...group,
        excludedMeanReward: 0,
      },
    },
    { topic: 'training-batches', event: { type: 'TrainingSample', batchId: 'b0', ...scored, ...tree } },
    {
      topic: 'training-batches',
      event: {
        type: 'TrainingBatchCut',
        batchId: 'b0',
        runId,
        batchNumber: 0,
        groups: ['g1'],
        samples: 1,
        tokens,
        harnesses: { alder: 1 },
        staleGroups: [],
        policyStep: 0,
        trainedThroughBatch: -1,
        inputOffset: 3,
        pendingGroups: [],
        policyVersions: [],
        lossAggregation: 'rolloutMean',
        lossConstant: null,
        algorithm: 'grpo',
      },
    },
  ];
}

/** Writes records into the log of a data folder. */
export async function writeLog(dataDir: string, records: readonly Outgoing[]): Promise<void> {
  const log = await openLmdbLog({ dir: join(dataDir, 'log') });
  await log.append(records);
  await log.close();
}

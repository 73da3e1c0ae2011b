import { join } from 'node:path';
import type { Outgoing } from '../../infra/log/eventLog.ts';
import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import type { Message, ModelCalled } from '../../schemas/generated/events.ts';
import { defaultRunConfig, type RunConfig } from '../../schemas/runConfig.ts';
import { startProcessor } from '../../services/processor/startProcessor.ts';
import { sampleCall, sampleRequest } from './sampleEvents.ts';

const message = (role: string, content: string): Message => ({
  role,
  content,
  reasoning: null,
  toolCalls: [],
  toolCallId: null,
  name: null,
});

const INSTRUCTION = 'Write the code.';

/** The records that services write of one rollout: two calls, a seal, a reward and a settlement. */
export function rolloutRecords(
  place: {
    readonly runId: string;
    readonly groupId: string;
    readonly rolloutId: string;
    readonly index: number;
  },
  reward: number,
): readonly Outgoing[] {
  const { runId, groupId, rolloutId, index } = place;
  const id = { runId, groupId, rolloutId, attempt: 0, at: 1 } as const;
  const call = (seq: number, fields: Partial<ModelCalled>): Outgoing => ({
    topic: 'model-calls',
    event: sampleCall({ runId, groupId, rolloutId, seq, callId: `${rolloutId}-c${seq}`, ...fields }),
  });
  const context = { system: 'You act.', toolNames: ['shell'], tools: null };
  const callIds = [`${rolloutId}-c0`, `${rolloutId}-c1`];
  return [
    {
      topic: 'rollout-requests',
      event: sampleRequest({ runId, groupId, rolloutId, index, instruction: INSTRUCTION }),
    },
    call(0, {
      context,
      newMessages: [message('user', INSTRUCTION)],
      envTokenIds: Int32Array.of(1, 2, 3),
      sampledTokenIds: Int32Array.of(10 + index, 11),
    }),
    call(1, {
      parentCallId: callIds[0] as string,
      newMessages: [message('tool', 'ok')],
      envTokenIds: Int32Array.of(4),
      sampledTokenIds: Int32Array.of(20, 21 + index),
    }),
    { topic: 'rollouts', event: { type: 'RolloutSealed', ...id, callCount: 2, callIds, undelivered: [] } },
    { topic: 'rewards', event: { type: 'RewardGiven', ...id, reward, criteria: {}, flag: null } },
    {
      topic: 'rollouts',
      event: {
        type: 'RolloutSettled',
        ...id,
        scoredAttempt: 0,
        outcome: 'completed',
        attempts: [{ attempt: 0, outcome: 'completed' }],
      },
    },
  ];
}

/**
 * Writes a run into the log of a data folder and lets the real processor do its work: groups `g0`,
 * `g1`, ... of two rollouts each. In every third group both rewards are equal.
 */
export async function pipelineRun(
  dataDir: string,
  options: { readonly runId?: string; readonly groups?: number; readonly config?: Partial<RunConfig> } = {},
): Promise<void> {
  const { runId = 'run1', groups = 4 } = options;
  const config = {
    ...defaultRunConfig(),
    groupSize: 2,
    groupsPerBatch: 2,
    maxQueuedBatches: 9,
    ...options.config,
  };
  const log = await openLmdbLog({ dir: join(dataDir, 'log') });
  await log.append([
    {
      topic: 'scored-groups',
      event: { type: 'RunConfigured', runId, config: JSON.stringify(config), digest: '', at: 1 },
    },
    {
      topic: 'scored-groups',
      event: {
        type: 'PolicyPublished',
        runId,
        version: 'v0',
        trainedThroughBatch: -1,
        weights: null,
        metrics: {},
        at: 1,
      },
    },
  ]);
  const processor = await startProcessor({ log });
  for (let g = 0; g < groups; g++) {
    const rollout = (index: number) => ({ runId, groupId: `g${g}`, rolloutId: `g${g}-r${index}`, index });
    await log.append([...rolloutRecords(rollout(0), 1), ...rolloutRecords(rollout(1), g % 3 === 2 ? 1 : 0)]);
  }
  await processor.drained();
  // A call after its group closed.
  const late = sampleCall({ runId, groupId: 'g0', rolloutId: 'g0-r0', seq: 9, callId: 'late' });
  await log.append([{ topic: 'model-calls', event: late }]);
  await processor.drained();
  await log.append([
    { topic: 'scored-groups', event: { type: 'RunEnded', runId, reason: 'completed', at: 2 } },
  ]);
  await processor.drained();
  await processor.close();
  await log.close();
}

import type {
  ModelCalled,
  PolicyPublished,
  RewardGiven,
  RolloutEnded,
  RolloutRequested,
  RolloutSealed,
  RolloutSettled,
} from '../../../schemas/generated/events.ts';

// Whole events from the few fields that a test is about.

export interface RolloutIds {
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
}

export const ids = (rolloutId = 'r1', groupId = 'g1', runId = 'run'): RolloutIds => ({
  runId,
  groupId,
  rolloutId,
});

export function modelCalled(over: Partial<ModelCalled> & { readonly callId: string }): ModelCalled {
  return {
    type: 'ModelCalled',
    ...ids(),
    attempt: 0,
    seq: 0,
    taskId: 'task',
    harness: 'alder',
    parentCallId: null,
    prefixTokenCount: 0,
    prefixDigest: null,
    envTokenIds: new Int32Array(0),
    sampledTokenIds: new Int32Array(0),
    rolloutLogprobs: new Float32Array(over.sampledTokenIds?.length ?? 0).fill(-0.5),
    policySpans: [],
    finishReason: 'stop',
    temperature: 1,
    topP: 1,
    topK: -1,
    maxTokens: 0,
    requestedSampling: null,
    logprobsMode: 'processed',
    constraint: null,
    dialect: '',
    threadKey: null,
    agentId: null,
    parentAgentId: null,
    headers: {},
    newMessages: [],
    response: null,
    contextDigest: null,
    context: null,
    attribution: [],
    templateDivergence: 0,
    requestedAt: 0,
    firstByteAt: 0,
    completedAt: 0,
    engineMs: 0,
    ...over,
  };
}

export function requested(rollout: RolloutIds, over: Partial<RolloutRequested> = {}): RolloutRequested {
  return {
    type: 'RolloutRequested',
    ...rollout,
    taskId: 'task',
    harness: 'alder',
    groupSize: 1,
    index: 0,
    attempt: 0,
    instruction: null,
    purpose: 'train',
    step: null,
    pinnedVersion: null,
    task: null,
    at: 0,
    ...over,
  };
}

export function sealed(
  rollout: RolloutIds,
  callIds: readonly string[],
  over: Partial<RolloutSealed> = {},
): RolloutSealed {
  return {
    type: 'RolloutSealed',
    ...rollout,
    attempt: 0,
    callCount: callIds.length,
    callIds,
    undelivered: [],
    at: 0,
    ...over,
  };
}

export function rewarded(rollout: RolloutIds, reward: number, attempt = 0): RewardGiven {
  return { type: 'RewardGiven', ...rollout, attempt, reward, criteria: {}, flag: null, at: 0 };
}

export function ended(rollout: RolloutIds, outcome: string, attempt = 0): RolloutEnded {
  return {
    type: 'RolloutEnded',
    ...rollout,
    attempt,
    outcome,
    exitCode: 0,
    detail: null,
    workspace: null,
    wallMs: null,
    at: 0,
  };
}

export function settled(
  rollout: RolloutIds,
  scoredAttempt: number | null = 0,
  over: Partial<RolloutSettled> = {},
): RolloutSettled {
  const outcome = scoredAttempt === null ? 'infrastructureFailure' : 'completed';
  const attempts = scoredAttempt === null ? [] : [{ attempt: scoredAttempt, outcome }];
  return { type: 'RolloutSettled', ...rollout, scoredAttempt, outcome, attempts, at: 0, ...over };
}

export function published(
  version: string,
  trainedThroughBatch: number | null = null,
  runId = 'run',
): PolicyPublished {
  return { type: 'PolicyPublished', runId, version, trainedThroughBatch, weights: null, metrics: {}, at: 0 };
}

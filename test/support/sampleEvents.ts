import type { ModelCalled, RolloutRequested, RunEnded } from '../../schemas/generated/events.ts';

/** A small request; override what a test is about. */
export function sampleRequest(fields: Partial<RolloutRequested> = {}): RolloutRequested {
  return {
    type: 'RolloutRequested',
    runId: 'run1',
    groupId: 'g1',
    rolloutId: 'r1',
    taskId: 'task1',
    harness: 'alder',
    groupSize: 2,
    index: 0,
    attempt: 0,
    instruction: 'Do it.',
    purpose: 'train',
    step: 0,
    pinnedVersion: null,
    task: null,
    at: 1,
    ...fields,
  };
}

/** A small model call; override what a test is about. */
export function sampleCall(fields: Partial<ModelCalled> = {}): ModelCalled {
  return {
    type: 'ModelCalled',
    runId: 'run1',
    groupId: 'g1',
    rolloutId: 'r1',
    attempt: 0,
    callId: 'c1',
    seq: 0,
    taskId: 'task1',
    harness: 'alder',
    parentCallId: null,
    prefixTokenCount: 0,
    prefixDigest: null,
    envTokenIds: Int32Array.of(1, 2, 3),
    sampledTokenIds: Int32Array.of(4, 5),
    rolloutLogprobs: Float32Array.of(-0.5, -0.25),
    policySpans: [{ version: 'v0', start: 0, end: 2 }],
    finishReason: 'stop',
    temperature: 1,
    topP: 1,
    topK: -1,
    maxTokens: 100,
    requestedSampling: null,
    logprobsMode: 'processed',
    constraint: null,
    dialect: 'anthropic',
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
    requestedAt: 1,
    firstByteAt: 2,
    completedAt: 3,
    engineMs: 1.5,
    ...fields,
  };
}

/** The smallest event of the second hop. */
export function sampleRunEnded(runId: string, reason = 'done'): RunEnded {
  return { type: 'RunEnded', runId, reason, at: 1 };
}

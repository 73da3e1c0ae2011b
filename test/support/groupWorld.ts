import type { Outgoing } from '../../infra/log/eventLog.ts';
import type { EspalierEvent, ModelCalled } from '../../schemas/generated/events.ts';
import { defaultRunConfig, type RunConfig } from '../../schemas/runConfig.ts';
import { TOPIC_NAMES, TOPICS } from '../../schemas/topics.ts';
import { sampleCall, sampleRequest } from './sampleEvents.ts';

/** The first records of a run: its configuration and its first policy. */
export function runStart(runId: string, fields: Partial<RunConfig> = {}): readonly Outgoing[] {
  const config = JSON.stringify({ ...defaultRunConfig(), groupsPerBatch: 2, ...fields });
  return [
    toTopic({ type: 'RunConfigured', runId, config, digest: '', at: 1 }),
    toTopic({
      type: 'PolicyPublished',
      runId,
      version: 'v0',
      trainedThroughBatch: -1,
      weights: null,
      metrics: {},
      at: 1,
    }),
  ];
}

/** A whole group of two rollouts of two calls each, rewards 1 and 0: its requests, and what follows them. */
export function wholeGroup(runId: string, groupId: string) {
  const requests: Outgoing[] = [];
  const events: Outgoing[] = [];
  for (const index of [0, 1]) {
    const ids = { runId, groupId, rolloutId: `${groupId}-${index}` };
    requests.push(toTopic(sampleRequest({ ...ids, index })));
    const calls = twoCalls(ids);
    const attempt = { ...ids, attempt: 0, at: 1 };
    const outcome = 'completed';
    events.push(
      ...[
        ...calls,
        {
          type: 'RolloutStarted',
          ...attempt,
          harness: 'alder',
          isolation: 'process',
          tokenizerDigest: null,
          templateDigest: null,
        } as const,
        {
          type: 'RolloutSealed',
          ...attempt,
          callCount: calls.length,
          callIds: calls.map((call) => call.callId),
          undelivered: [],
        } as const,
        {
          type: 'RolloutEnded',
          ...attempt,
          outcome,
          exitCode: 0,
          detail: null,
          workspace: null,
          wallMs: 1,
        } as const,
        { type: 'RewardGiven', ...attempt, reward: 1 - index, criteria: {}, flag: null } as const,
        {
          type: 'RolloutSettled',
          ...ids,
          scoredAttempt: 0,
          outcome,
          attempts: [{ attempt: 0, outcome }],
          at: 1,
        } as const,
      ].map(toTopic),
    );
  }
  return { requests, events };
}

function twoCalls(ids: { runId: string; groupId: string; rolloutId: string }): readonly ModelCalled[] {
  const message = (role: string, content: string) => ({
    role,
    content,
    reasoning: null,
    toolCalls: [],
    toolCallId: null,
    name: null,
  });
  const first = sampleCall({
    ...ids,
    callId: `${ids.rolloutId}-a`,
    newMessages: [message('user', 'Do it.')],
    response: message('assistant', 'one'),
  });
  return [
    first,
    sampleCall({
      ...ids,
      callId: `${ids.rolloutId}-b`,
      seq: 1,
      parentCallId: first.callId,
      prefixTokenCount: 5,
      envTokenIds: Int32Array.of(6),
      newMessages: [message('user', 'Go on.')],
      response: message('assistant', 'two'),
    }),
  ];
}

/** An event with the first topic that carries it. */
export function toTopic(event: EspalierEvent): Outgoing {
  const topic = TOPIC_NAMES.find((name) => (TOPICS[name].carries as readonly string[]).includes(event.type));
  if (topic === undefined) throw new Error(`no topic carries ${event.type}`);
  return { topic, event };
}

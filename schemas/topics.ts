import type { EspalierEvent, EventType } from './generated/events.ts';

/** What a topic is partitioned by, and which hop reads it. */
interface TopicSpec {
  readonly key: 'groupId' | 'runId' | 'original';
  readonly hop: 'first' | 'second' | 'none';
  readonly compacted: boolean;
  readonly carries: readonly EventType[];
}

/**
 * All topics. Topics of one hop have the same number of partitions and are read together, so a
 * group's events (a run's, in the second hop) meet in one partition number. The partitioner is
 * murmur2 of the key, for every client: see `partitionOf`.
 */
export const TOPICS = {
  'rollout-requests': { key: 'groupId', hop: 'first', compacted: false, carries: ['RolloutRequested'] },
  rollouts: {
    key: 'groupId',
    hop: 'first',
    compacted: false,
    carries: ['RolloutStarted', 'RolloutSealed', 'RolloutEnded', 'RolloutAbandoned', 'RolloutSettled'],
  },
  'model-calls': {
    key: 'groupId',
    hop: 'first',
    compacted: false,
    carries: ['ModelCalled', 'ModelCallFailed'],
  },
  rewards: { key: 'groupId', hop: 'first', compacted: false, carries: ['RewardGiven', 'VerificationFailed'] },
  verdicts: {
    key: 'groupId',
    hop: 'none',
    compacted: false,
    carries: ['TreeJudged', 'RolloutDropped', 'GroupDropped'],
  },
  'group-markers': { key: 'groupId', hop: 'first', compacted: true, carries: ['GroupClosed'] },
  'scored-groups': {
    key: 'runId',
    hop: 'second',
    compacted: false,
    carries: ['RunConfigured', 'RolloutScored', 'GroupScored', 'GroupDropped', 'PolicyPublished', 'RunEnded'],
  },
  'training-batches': {
    key: 'runId',
    hop: 'second',
    compacted: false,
    carries: ['TrainingSample', 'TrainingBatchCut'],
  },
  'dead-letters': { key: 'original', hop: 'none', compacted: false, carries: ['DeadLettered'] },
} as const satisfies Readonly<Record<string, TopicSpec>>;

/** The name of a topic. */
export type Topic = keyof typeof TOPICS;

/** All topic names. */
export const TOPIC_NAMES = Object.keys(TOPICS) as readonly Topic[];

/** The key an event is partitioned by on a topic. */
export function keyOf(topic: Topic, event: EspalierEvent): string {
  const kind = TOPICS[topic].key;
  if (kind === 'groupId' && 'groupId' in event) return event.groupId;
  if (kind === 'runId' && 'runId' in event) return event.runId;
  return event.type === 'DeadLettered' ? (event.key ?? '') : '';
}

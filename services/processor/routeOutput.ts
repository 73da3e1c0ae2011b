import type { Outgoing } from '../../infra/log/eventLog.ts';
import type { DeadLettered } from '../../schemas/generated/events.ts';
import type { Topic } from '../../schemas/topics.ts';
import type { BatchOutput } from '../../streams/batch/cutBatch.ts';
import type { GroupOutput } from '../../streams/group/groupState.ts';

const TOPICS_OF: Readonly<Record<(GroupOutput | BatchOutput | DeadLettered)['type'], readonly Topic[]>> = {
  TreeJudged: ['verdicts'],
  RolloutDropped: ['verdicts'],
  // Read as a verdict by group, and by run by whoever counts the groups of the window.
  GroupDropped: ['verdicts', 'scored-groups'],
  RolloutScored: ['scored-groups'],
  GroupScored: ['scored-groups'],
  GroupClosed: ['group-markers'],
  TrainingSample: ['training-batches'],
  TrainingBatchCut: ['training-batches'],
  DeadLettered: ['dead-letters'],
};

/** Where an output of the processor goes. */
export function routeOutput(event: GroupOutput | BatchOutput | DeadLettered): readonly Outgoing[] {
  return TOPICS_OF[event.type].map((topic) => ({ topic, event }));
}

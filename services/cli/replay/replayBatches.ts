import type { EspalierEvent, GroupDropped } from '../../../schemas/generated/events.ts';
import { type BatchOutput, cutBatch } from '../../../streams/batch/cutBatch.ts';
import type { RunEvent, RunRecord, RunState } from '../../../streams/batch/runState.ts';
import type { PipelineConfig } from '../../../streams/pipelineConfig.ts';
import { feed } from '../../../streams/stage.ts';

/** The events that the second hop reads. */
const RUN_EVENTS: ReadonlySet<string> = new Set<RunEvent['type']>([
  'RunConfigured',
  'RolloutScored',
  'GroupScored',
  'GroupDropped',
  'PolicyPublished',
  'RunEnded',
]);

/** Whether the second hop reads an event. */
export function isRunEvent(event: EspalierEvent): event is RunEvent {
  return RUN_EVENTS.has(event.type);
}

/** Reasons for which the second hop drops a group; every other drop is the first hop's. */
const SECOND_HOP_REASONS: ReadonlySet<string> = new Set(['stale', 'runEnded']);

/** Whether a group was dropped when a batch was cut, not when the group closed. */
export function isSecondHopDrop(event: EspalierEvent): event is GroupDropped {
  return event.type === 'GroupDropped' && SECOND_HOP_REASONS.has(event.reason);
}

/** The second hop over the records of one run in offset order; what is scored after its end is dropped. */
export function replayBatches(records: readonly RunRecord[], config: PipelineConfig): readonly BatchOutput[] {
  const stage = cutBatch(() => config);
  const states = new Map<string, RunState>();
  const out: BatchOutput[] = [];
  let ended = false;
  for (const record of records) {
    const { event } = record;
    if (!ended) {
      out.push(...feed(stage, states, record));
      ended = event.type === 'RunEnded';
    } else if (event.type === 'GroupScored') {
      const { runId, groupId } = event;
      const detail = 'it was scored after the end of its run';
      out.push({ type: 'GroupDropped', runId, groupId, reason: 'runEnded', detail });
    }
  }
  return out;
}

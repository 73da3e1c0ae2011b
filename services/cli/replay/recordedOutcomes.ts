import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import { type RecordSource, readEvents } from '../events/readEvents.ts';
import type { RunFacts } from './runFacts.ts';

/** What the pipeline emitted for a run, in the form in which a replay emits it. */
export async function recordedOutcomes(
  source: RecordSource,
  run: RunFacts,
): Promise<readonly EspalierEvent[]> {
  const events: EspalierEvent[] = [];
  const topics = ['verdicts', 'training-batches'] as const;
  for await (const { event } of readEvents(source, { topics, runId: run.runId })) events.push(event);
  for (const { event } of run.records) if (event.type === 'GroupScored') events.push(event);
  return events;
}

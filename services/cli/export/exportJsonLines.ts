import type { EventJson } from '../../../schemas/eventJson.ts';
import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import { type RecordSource, readEvents } from '../events/readEvents.ts';

/** What an export wrote. */
export interface ExportCounts {
  samples: number;
  batches: number;
  trainedTokens: number;
}

/**
 * Writes the training batches of a run as JSON lines, in the order in which they were cut: the
 * samples of a batch, then its manifest.
 * @param write takes one line without its line break; its promise slows the reading down
 */
export async function exportJsonLines(
  log: RecordSource,
  runId: string,
  json: EventJson,
  write: (line: string) => Promise<void>,
): Promise<ExportCounts> {
  const counts: ExportCounts = { samples: 0, batches: 0, trainedTokens: 0 };
  for await (const { event } of readEvents(log, { topics: ['training-batches'], runId })) {
    count(counts, event);
    await write(json.write(event));
  }
  return counts;
}

function count(counts: ExportCounts, event: EspalierEvent): void {
  if (event.type === 'TrainingSample') counts.samples++;
  if (event.type !== 'TrainingBatchCut') return;
  counts.batches++;
  counts.trainedTokens += event.tokens.trained;
}

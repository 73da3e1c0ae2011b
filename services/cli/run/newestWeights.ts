import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PolicyPublished } from '../../../schemas/generated/events.ts';
import type { Store } from '../../embedded.ts';
import { readEvents } from '../events/readEvents.ts';

/**
 * The newest version that a run has published, as a file an engine can be started with; undefined
 * before the first. A run that is gone on with must not sample from the warm start until its trainer
 * has come up again: what it measures then would be said of the wrong policy.
 */
export async function newestWeights(
  store: Store,
  runId: string,
): Promise<{ readonly version: string; readonly file: string } | undefined> {
  let newest: PolicyPublished | undefined;
  const filter = { topics: ['scored-groups'], runId, types: ['PolicyPublished'] } as const;
  for await (const { event } of readEvents(store.log, filter)) {
    if (event.type !== 'PolicyPublished' || event.trainedThroughBatch === null) continue;
    if (event.trainedThroughBatch > (newest?.trainedThroughBatch ?? -2)) newest = event;
  }
  if (newest === undefined || newest.weights === null) return undefined;
  // A name of its own: the trainer replaces the file that it gives to engines while this one is read.
  const file = join(store.folder.models, `${runId}.start.weights`);
  await mkdir(store.folder.models, { recursive: true });
  await writeFile(`${file}.tmp`, await store.blobs.get(newest.weights));
  await rename(`${file}.tmp`, file);
  return { version: newest.version, file };
}

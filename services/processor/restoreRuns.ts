import type { EventLog } from '../../infra/log/eventLog.ts';
import type { TrainingBatchCut } from '../../schemas/generated/events.ts';
import { type RunState, restoreFromManifest } from '../../streams/batch/runState.ts';
import type { RunDirectory } from './runDirectory.ts';
import { scanTopic } from './scanTopic.ts';

/** How the second hop picks its runs up again. */
export interface RestoredRuns {
  /** State right after each run's last manifest; runs without one start empty. */
  readonly states: Map<string, RunState>;
  /** Runs that ended before the position. */
  readonly ended: Set<string>;
  /** By run that is going on, the offset from which its records must be fed again. */
  readonly from: ReadonlyMap<string, bigint>;
}

/**
 * Reads the manifests of a partition: each is a checkpoint of its run. The oldest record that a run
 * still needs is that of the oldest group pending at its last manifest. A group that was not yet known
 * at an earlier manifest came after it, so the newest manifest that knew none of them bounds the search.
 *
 * @param position offset in `scored-groups` up to which the records were consumed
 */
export async function restoreRuns(
  log: EventLog,
  runs: RunDirectory,
  partition: number,
  position: bigint,
): Promise<RestoredRuns> {
  const manifests = new Map<string, TrainingBatchCut[]>();
  const to = await log.end('training-batches', partition);
  await scanTopic(log, 'training-batches', partition, { from: 0n, to }, (record) => {
    if (record.headers.type !== 'TrainingBatchCut') return;
    const manifest = log.decode(record);
    if (manifest.type !== 'TrainingBatchCut') return;
    manifests.set(manifest.runId, [...(manifests.get(manifest.runId) ?? []), manifest]);
  });

  const states = new Map<string, RunState>();
  const ended = new Set<string>();
  const from = new Map<string, bigint>();
  for (const { runId, firstOffset, endOffset } of await runs.runsOf(partition)) {
    if (firstOffset >= position) continue;
    if (endOffset !== null && endOffset < position) {
      ended.add(runId);
      continue;
    }
    const own = manifests.get(runId) ?? [];
    const last = own.at(-1);
    if (last !== undefined) states.set(runId, restoreFromManifest(last));
    from.set(runId, last === undefined ? firstOffset : replayStart(own, last, firstOffset));
  }
  return { states, ended, from };
}

function replayStart(own: readonly TrainingBatchCut[], last: TrainingBatchCut, firstOffset: bigint): bigint {
  const pending = new Set(last.pendingGroups);
  const before = own.findLast((manifest) => {
    const known = [...manifest.pendingGroups, ...manifest.groups, ...manifest.staleGroups];
    return !known.some((groupId) => pending.has(groupId));
  });
  return before === undefined ? firstOffset : BigInt(before.inputOffset) + 1n;
}

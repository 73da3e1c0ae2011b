import type { EventLog, LogRecord, Outgoing } from '../../infra/log/eventLog.ts';
import type { Hop, HopWorker } from '../../infra/runner.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { DeadLettered, GroupDropped } from '../../schemas/generated/events.ts';
import type { BatchOutput } from '../../streams/batch/cutBatch.ts';
import type { RunEvent, RunRecord, RunState } from '../../streams/batch/runState.ts';
import { feed, type Stage } from '../../streams/stage.ts';
import { deadLetter } from './deadLetter.ts';
import { restoreRuns } from './restoreRuns.ts';
import { routeOutput } from './routeOutput.ts';
import type { RunDirectory } from './runDirectory.ts';
import { scanTopic } from './scanTopic.ts';

const INPUT = 'scored-groups';

type Output = BatchOutput | DeadLettered;

/**
 * From scored groups to training batches. Its outputs are a function of the records in offset order,
 * and its offset moves with every output, so after a restart it rebuilds its state from the last
 * manifests by reading records again without emitting anything, and goes on at its offset.
 */
export function secondHop(
  log: EventLog,
  runs: RunDirectory,
  stage: Stage<RunRecord, RunState, BatchOutput>,
): Hop {
  return {
    name: 'second-hop',
    topics: [INPUT],
    open: (partition, committed) => openPartition(log, runs, stage, partition, committed.get(INPUT) ?? 0n),
  };
}

async function openPartition(
  log: EventLog,
  runs: RunDirectory,
  stage: Stage<RunRecord, RunState, BatchOutput>,
  partition: number,
  position: bigint,
): Promise<HopWorker> {
  const { states, ended, from } = await restoreRuns(log, runs, partition, position);
  /** Groups of which a record could not be read: what else comes of them is left out. */
  const damaged = new Set<string>();

  const unreadable = (record: LogRecord, error: EspalierError): readonly Output[] => {
    const letter = deadLetter(record, error.code, error.message);
    const { run: runId, group: groupId } = record.headers;
    if (runId === undefined || groupId === undefined || damaged.has(groupId)) return [letter];
    damaged.add(groupId);
    const detail = 'a record of the scored group could not be read';
    const dropped: GroupDropped = { type: 'GroupDropped', runId, groupId, reason: 'corrupt', detail };
    feed(stage, states, { event: dropped, offset: Number(record.offset) });
    return [letter, dropped];
  };

  const take = async (record: LogRecord): Promise<readonly Output[]> => {
    let event: RunEvent;
    try {
      event = log.decode(record) as RunEvent;
    } catch (cause) {
      if (cause instanceof EspalierError && cause.code === 'E_EVENT_DECODE') return unreadable(record, cause);
      throw cause;
    }
    const { runId } = event;
    if ((await runs.configOf(runId)) === null) {
      return [deadLetter(record, 'E_RUN_UNKNOWN', `run ${runId} has no RunConfigured`)];
    }
    if ('groupId' in event && damaged.has(event.groupId)) return [];
    if (ended.has(runId)) {
      if (event.type !== 'GroupScored') return [];
      const { groupId } = event;
      const detail = 'it was scored after the end of its run';
      return [{ type: 'GroupDropped', runId, groupId, reason: 'runEnded', detail }];
    }
    const out = feed(stage, states, { event, offset: Number(record.offset) });
    if (!states.has(runId)) ended.add(runId);
    return out;
  };

  const start = [...from.values()].reduce((least, offset) => (offset < least ? offset : least), position);
  await scanTopic(log, INPUT, partition, { from: start, to: position }, async (record) => {
    const since = from.get(record.headers.run ?? record.key);
    if (since !== undefined && record.offset >= since) await take(record);
  });

  return {
    async process(records) {
      const outgoing: Outgoing[] = [];
      for (const record of records) outgoing.push(...(await take(record)).flatMap(routeOutput));
      return outgoing;
    },
    // All that is needed of the past can be found from the manifests.
    needs: () => null,
  };
}

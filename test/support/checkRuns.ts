import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import type { EspalierEvent } from '../../schemas/generated/events.ts';
import { TOPIC_NAMES } from '../../schemas/topics.ts';
import { accountForCalls } from '../../services/cli/demo/accountForCalls.ts';
import { readEvents } from '../../services/cli/events/readEvents.ts';

/**
 * What is wrong with the finished runs of a data folder, judged by its log alone: anything lost, anything
 * twice, anything without a fate. Empty when all is well.
 */
export async function faultsOf(dataDir: string): Promise<string[]> {
  const log = await openLmdbLog({ dir: `${dataDir}/log`, readOnly: true });
  try {
    const runs = new Map<string, EspalierEvent[]>();
    const faults: string[] = [];
    for await (const { event, record } of readEvents(log, { topics: TOPIC_NAMES })) {
      if (event.type === 'DeadLettered') faults.push(`a dead letter: ${JSON.stringify(event)}`);
      if (!('runId' in event) || event.runId === null) continue;
      // Told in two topics on purpose.
      if (event.type === 'GroupDropped' && record.topic === 'scored-groups') continue;
      runs.set(event.runId, [...(runs.get(event.runId) ?? []), event]);
    }
    if (runs.size === 0) faults.push('there is no run');
    for (const [runId, events] of runs) faults.push(...faultsOfRun(events).map((f) => `${runId}: ${f}`));
    return faults;
  } finally {
    await log.close();
  }
}

function faultsOfRun(events: readonly EspalierEvent[]): string[] {
  const all = <T extends EspalierEvent['type']>(type: T) =>
    events.filter((e): e is Extract<EspalierEvent, { type: T }> => e.type === type);
  const faults: string[] = [];
  const same = (what: string, found: unknown, wanted: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      faults.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  };
  const once = (what: string, ids: readonly string[]) => {
    const seen = new Set<string>();
    for (const id of ids) {
      if (seen.has(id)) faults.push(`${what} twice: ${id}`);
      seen.add(id);
    }
  };
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

  same('RunConfigured', all('RunConfigured').length, 1);
  same('RunEnded', all('RunEnded').length, 1);
  const requested = [...new Set(all('RolloutRequested').map((e) => e.rolloutId))].sort();
  const settled = all('RolloutSettled').map((e) => e.rolloutId);
  once('settled', settled);
  same('settled rollouts', [...new Set(settled)].sort(), requested);
  once(
    'an attempt asked for',
    all('RolloutRequested').map((e) => `${e.rolloutId}/${e.attempt}`),
  );
  once(
    'an attempt started',
    all('RolloutStarted').map((e) => `${e.rolloutId}/${e.attempt}`),
  );
  once(
    'an attempt ended',
    all('RolloutEnded').map((e) => `${e.rolloutId}/${e.attempt}`),
  );
  once(
    'an attempt sealed',
    all('RolloutSealed').map((e) => `${e.rolloutId}/${e.attempt}`),
  );

  const cuts = all('TrainingBatchCut');
  const samples = all('TrainingSample');
  once(
    'a batch',
    cuts.map((e) => e.batchId),
  );
  once(
    'a sample',
    samples.map((e) => e.rolloutId),
  );
  same(
    'batch numbers',
    cuts.map((e) => e.batchNumber).sort((a, b) => a - b),
    upTo(cuts.length),
  );
  const cut = new Set(cuts.map((e) => e.batchId));
  for (const sample of samples)
    if (!cut.has(sample.batchId)) faults.push(`a sample of no batch: ${sample.rolloutId}`);

  const versions = all('PolicyPublished');
  once(
    'a version',
    versions.map((e) => e.version),
  );
  same(
    'versions',
    versions.map((e) => Number(e.version)),
    upTo(versions.length),
  );
  same(
    'versions trained through',
    versions.map((e) => e.trainedThroughBatch),
    upTo(versions.length).map((v) => v - 1),
  );

  once(
    'a call',
    [...all('ModelCalled'), ...all('ModelCallFailed')].map((e) => e.callId),
  );
  once(
    'a verdict on a call',
    all('TreeJudged').flatMap((e) => e.verdicts.map((v) => v.callId)),
  );
  once(
    'a group settled',
    [...all('GroupScored'), ...all('GroupDropped')].map((e) => `${e.type} ${e.groupId}`),
  );
  const { calls, kept, dropped } = accountForCalls(events);
  same('calls', kept + Object.values(dropped).reduce((a, b) => a + b, 0), calls);
  same('calls without a fate', [dropped.notJudged ?? 0, dropped.notTrained ?? 0], [0, 0]);
  return faults;
}

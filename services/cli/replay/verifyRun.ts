import { createCodec } from '../../../schemas/codec.ts';
import { eventJson } from '../../../schemas/eventJson.ts';
import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import { loadSchemas } from '../../../schemas/loadSchemas.ts';
import type { Topic } from '../../../schemas/topics.ts';
import { routeOutput } from '../../processor/routeOutput.ts';
import { type RecordSource, readEvents } from '../events/readEvents.ts';
import { type Comparison, type Difference, type EventComparer, eventComparer } from './compareEvents.ts';
import { recordedGroups } from './recordedGroups.ts';
import { isSecondHopDrop, replayBatches } from './replayBatches.ts';
import { replayGroup } from './replayGroup.ts';
import type { RunFacts } from './runFacts.ts';

/** What a faithful replay found. */
export interface Verification {
  readonly groups: number;
  /** Groups without a marker: the pipeline has not closed them. */
  readonly openGroups: number;
  /** Records on file that the replay reproduced, by hop. */
  readonly equal: { readonly firstHop: number; readonly secondHop: number };
  /** Records that the replay emits and the pipeline had not when the log ended. */
  readonly notEmittedYet: number;
  readonly differences: readonly Difference[];
}

/**
 * Runs both hops over the recorded events of a run and compares record bodies: those of the first
 * hop by id in any order, those of the second in offset order.
 */
export async function verifyRun(source: RecordSource, run: RunFacts): Promise<Verification> {
  const comparer = eventComparer(createCodec(), eventJson(loadSchemas()));
  const first = await verifyFirstHop(source, run, comparer);
  const second = await verifySecondHop(source, run, comparer);
  return {
    groups: first.groups,
    openGroups: first.openGroups,
    equal: { firstHop: first.equal, secondHop: second.equal },
    notEmittedYet: second.notEmittedYet,
    differences: [...first.differences, ...second.differences],
  };
}

async function verifyFirstHop(source: RecordSource, run: RunFacts, comparer: EventComparer) {
  const found: Comparison[] = [];
  let [groups, openGroups] = [0, 0];
  for (let partition = 0; partition < source.partitions; partition++) {
    const inputs = await recordedGroups(source, run.runId, partition);
    const closed = inputs.filter(({ markers }) => markers.length > 0);
    groups += inputs.length;
    openGroups += inputs.length - closed.length;
    const replayed = closed
      .flatMap((group) => replayGroup(group, run.config, run.versions))
      .flatMap(routeOutput);
    const on = (...topics: readonly Topic[]) =>
      replayed.filter(({ topic }) => topics.includes(topic)).map(({ event }) => event);
    const verdicts = await recordedVerdicts(source, run.runId, partition);
    found.push(comparer.unordered(verdicts, on('verdicts', 'group-markers')));
    const ids = new Set(closed.map(({ groupId }) => groupId));
    const scored = run.records
      .map(({ event }) => event)
      .filter((event) => 'groupId' in event && ids.has(event.groupId) && !isSecondHopDrop(event));
    found.push(comparer.unordered(scored, on('scored-groups')));
  }
  const equal = found.reduce((sum, comparison) => sum + comparison.equal, 0);
  return { groups, openGroups, equal, differences: found.flatMap(({ differences }) => differences) };
}

async function recordedVerdicts(
  source: RecordSource,
  runId: string,
  partition: number,
): Promise<readonly EspalierEvent[]> {
  const recorded: EspalierEvent[] = [];
  const topics = ['verdicts', 'group-markers'] as const;
  for await (const { event } of readEvents(source, { topics, partitions: [partition], runId })) {
    if (!isSecondHopDrop(event)) recorded.push(event);
  }
  return recorded;
}

async function verifySecondHop(source: RecordSource, run: RunFacts, comparer: EventComparer) {
  const replayed = replayBatches(run.records, run.config);
  const recorded: EspalierEvent[] = [];
  const batches = { topics: ['training-batches'], runId: run.runId } as const;
  for await (const { event } of readEvents(source, batches)) recorded.push(event);
  const drops = run.records.map(({ event }) => event).filter(isSecondHopDrop);
  const cut = replayed.filter((event) => event.type !== 'GroupDropped');
  const dropped = replayed.filter((event) => event.type === 'GroupDropped');
  const found = [comparer.ordered(recorded, cut), comparer.ordered(drops, dropped)];
  return {
    equal: found.reduce((sum, comparison) => sum + comparison.equal, 0),
    notEmittedYet: Math.max(0, cut.length - recorded.length) + Math.max(0, dropped.length - drops.length),
    differences: found.flatMap(({ differences }) => differences),
  };
}

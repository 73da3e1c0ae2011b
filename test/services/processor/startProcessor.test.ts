import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog, LogRecord, Outgoing } from '../../../infra/log/eventLog.ts';
import { openLmdbLog } from '../../../infra/log/openLmdbLog.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import { defaultRunConfig } from '../../../schemas/runConfig.ts';
import type { Topic } from '../../../schemas/topics.ts';
import { startProcessor } from '../../../services/processor/startProcessor.ts';
import { cutBatch } from '../../../streams/batch/cutBatch.ts';
import type { RunEvent, RunState } from '../../../streams/batch/runState.ts';
import { feed } from '../../../streams/stage.ts';
import { runStart, toTopic, wholeGroup } from '../../support/groupWorld.ts';
import { sampleCall, sampleRequest } from '../../support/sampleEvents.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const CONFIG = { groupsPerBatch: 2, maxQueuedBatches: 100 };

describe('processor', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let log: EventLog;
  beforeEach(async () => {
    folder = temporaryFolder();
    log = await openLmdbLog({ dir: folder.path, partitions: 2 });
  });
  afterEach(async () => {
    await log.close();
    folder.remove();
  });

  const read = async (topic: Topic): Promise<readonly EspalierEvent[]> => {
    const events: EspalierEvent[] = [];
    for (let p = 0; p < log.partitions; p++) {
      events.push(...(await log.read(topic, p, 0n, 100_000)).map((record) => log.decode(record)));
    }
    return events;
  };
  const sorted = (events: readonly EspalierEvent[]) => events.map((e) => JSON.stringify(e)).sort();
  const process = async (over: EventLog = log) => {
    const processor = await startProcessor({ log: over });
    await processor.drained();
    await processor.close();
  };

  /** Batches that the recorded scored groups make, computed by the pure stage alone. */
  const expectedBatches = async () => {
    const stage = cutBatch(() => ({ ...defaultRunConfig(), ...CONFIG }));
    const out: EspalierEvent[] = [];
    for (let p = 0; p < log.partitions; p++) {
      const states = new Map<string, RunState>();
      for (const record of await log.read('scored-groups', p, 0n, 100_000)) {
        const event = log.decode(record) as RunEvent;
        out.push(...feed(stage, states, { event, offset: Number(record.offset) }));
      }
    }
    return out.filter((event) => event.type !== 'GroupDropped');
  };

  const world = (groups: number) => {
    const parts = Array.from({ length: groups }, (_, i) =>
      wholeGroup(i % 3 === 0 ? 'run2' : 'run1', `g${i}`),
    );
    const start = [...runStart('run1', CONFIG), ...runStart('run2', CONFIG)];
    return { start, requests: parts.flatMap((g) => g.requests), events: parts.flatMap((g) => g.events) };
  };
  const everything = async () => ({
    verdicts: sorted(await read('verdicts')),
    markers: sorted(await read('group-markers')),
    scored: sorted(await read('scored-groups')),
  });

  it('turns groups into scored groups and batches', async () => {
    const { start, requests, events } = world(6);
    await log.append([...start, ...requests, ...events]);
    await process();
    const scored = await read('scored-groups');
    expect(scored.filter((e) => e.type === 'GroupScored')).toHaveLength(6);
    expect(await read('group-markers')).toHaveLength(6);
    const batches = await read('training-batches');
    expect(batches.filter((e) => e.type === 'TrainingBatchCut')).toHaveLength(3);
    expect(batches).toEqual(await expectedBatches());
    expect(await read('dead-letters')).toEqual([]);
  });

  it('gives the same whatever the interleaving, the chunks, and wherever it crashes', async () => {
    const { start, requests, events } = world(7);
    await log.append([...start, ...requests, ...events]);
    await process();
    const reference = await everything();

    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(events, { minLength: events.length }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat({ max: 6 }), { maxLength: 6 }),
        async (shuffled, sizes, crashes) => {
          const other = temporaryFolder();
          const outer = log;
          log = await openLmdbLog({ dir: other.path, partitions: 2 });
          try {
            await log.append([...start, ...requests]);
            let rest: readonly Outgoing[] = shuffled;
            for (let i = 0; rest.length > 0; i++) {
              const size = sizes[i % sizes.length] as number;
              await log.append(rest.slice(0, size));
              rest = rest.slice(size);
              await processUntilCrash(crashes[i]);
            }
            await process();
            expect(await everything()).toEqual(reference);
            expect(await read('training-batches')).toEqual(await expectedBatches());
            expect(await read('dead-letters')).toEqual([]);
          } finally {
            await log.close();
            log = outer;
            other.remove();
          }
        },
      ),
      { numRuns: 8 },
    );
  });

  /** Runs until everything is through or the n-th crash point is reached. */
  const processUntilCrash = async (after: number | undefined) => {
    let left = after ?? Number.POSITIVE_INFINITY;
    const processor = await startProcessor({
      log,
      crashPoint: () => {
        if (left-- <= 0) throw new Error('crash');
      },
      onError: () => {},
    });
    await processor.drained().catch(() => {});
    await processor.close().catch(() => {});
  };

  it('writes nothing of an open group and reads its events again after a restart', async () => {
    const { start, requests, events } = world(1);
    await log.append([...start, ...requests, ...events.slice(0, -1)]);
    await process();
    expect(await read('verdicts')).toEqual([]);
    await process();
    await log.append(events.slice(-1));
    await process();
    expect(await read('group-markers')).toHaveLength(1);
    await process();
    expect(await read('group-markers')).toHaveLength(1);
  });

  it('judges a call that comes after its group closed, once', async () => {
    const { start, requests, events } = world(1);
    const open = wholeGroup('run1', 'open');
    await log.append([...start, ...requests, ...open.requests, ...open.events.slice(0, 1), ...events]);
    await process();
    const late = sampleCall({ runId: 'run2', groupId: 'g0', rolloutId: 'g0-0', callId: 'late' });
    await log.append([toTopic(late)]);
    await process();
    await process();
    const judged = (await read('verdicts')).filter(
      (e) => e.type === 'TreeJudged' && e.verdicts.some((v) => v.callId === 'late'),
    );
    expect(judged).toMatchObject([{ verdicts: [{ callId: 'late', verdict: 'dropped', reason: 'late' }] }]);
  });

  it('makes a dead letter, once, of what belongs to no group or no run', async () => {
    const { start, requests, events } = world(1);
    const open = wholeGroup('run1', 'open');
    await log.append([
      ...start,
      ...open.requests,
      ...open.events.slice(0, 3),
      toTopic(sampleCall({ groupId: 'stranger' })),
      toTopic(sampleRequest({ runId: 'nowhere', groupId: 'lost' })),
      ...requests,
      ...events,
    ]);
    await process();
    await process();
    const letters = await read('dead-letters');
    expect(letters.map((l) => (l.type === 'DeadLettered' ? [l.code, l.key] : l)).sort()).toEqual([
      ['E_GROUP_UNKNOWN', 'stranger'],
      ['E_RUN_UNKNOWN', 'lost'],
    ]);
    expect(await read('group-markers')).toHaveLength(1);
  });

  it.each([
    ['model-calls', 'rollout', 'incomplete'],
    ['rollouts', 'group', 'corrupt'],
    ['rewards', 'group', 'corrupt'],
    ['rollout-requests', 'group', 'corrupt'],
  ] as const)('drops only the %s record, its %s and nothing else', async (topic, scope, reason) => {
    const { start, requests, events } = world(3);
    await log.append([...start, ...requests, ...events]);
    const target = (record: LogRecord) =>
      record.topic === topic &&
      record.headers.group === 'g1' &&
      ['ModelCalled', 'RolloutSealed', 'RewardGiven', 'RolloutRequested'].includes(record.headers.type ?? '');
    const poisoned = poisonFirst(log, target);
    await process(poisoned);
    await process(poisoned);
    const dropped = (await read('verdicts')).filter(
      (e) => e.type === 'RolloutDropped' || e.type === 'GroupDropped',
    );
    expect(dropped[0]).toMatchObject({ groupId: 'g1', reason });
    expect(dropped.some((e) => e.type === (scope === 'rollout' ? 'RolloutDropped' : 'GroupDropped'))).toBe(
      true,
    );
    expect(dropped.every((e) => 'groupId' in e && e.groupId === 'g1')).toBe(true);
    const markers = (await read('group-markers')).map((e) => (e.type === 'GroupClosed' ? e.groupId : ''));
    expect(new Set(markers)).toEqual(new Set(['g0', 'g1', 'g2']));
    const judged = (await read('verdicts')).flatMap((e) => (e.type === 'TreeJudged' ? e.verdicts : []));
    expect(judged.map((v) => v.callId).sort()).toEqual([...new Set(judged.map((v) => v.callId))].sort());
    expect(await read('dead-letters')).toMatchObject([{ topic, code: 'E_EVENT_DECODE', key: 'g1' }]);
  });

  it('drops the group of a scored record that cannot be read, and goes on', async () => {
    const { start, requests, events } = world(9);
    await log.append([...start, ...requests, ...events]);
    const poisoned = poisonFirst(log, (r) => r.headers.type === 'RolloutScored' && r.headers.group === 'g1');
    await process(poisoned);
    await process(poisoned);
    const cuts = (await read('training-batches')).filter((e) => e.type === 'TrainingBatchCut');
    expect(cuts.flatMap((cut) => cut.groups)).not.toContain('g1');
    expect(cuts.filter((cut) => cut.runId === 'run1')).toHaveLength(2);
    expect((await read('verdicts')).filter((e) => e.type === 'GroupDropped')).toMatchObject([
      { groupId: 'g1', reason: 'corrupt' },
    ]);
  });

  it('cuts no batch twice of a run that ended, and says what became of late groups', async () => {
    const { start, requests, events } = world(3);
    await log.append([...start, ...requests]);
    const early = events.filter(({ event }) => 'groupId' in event && event.groupId !== 'g2');
    await log.append(early);
    await process();
    await log.append([toTopic({ type: 'RunEnded', runId: 'run1', reason: 'completed', at: 1 })]);
    await process();
    await log.append(events.filter(({ event }) => 'groupId' in event && event.groupId === 'g2'));
    await process();
    await process();
    const cuts = (await read('training-batches')).filter(
      (e) => e.type === 'TrainingBatchCut' && e.runId === 'run1',
    );
    expect(cuts).toMatchObject([{ batchNumber: 0, groups: ['g1'] }]);
    expect((await read('verdicts')).filter((e) => e.type === 'GroupDropped')).toMatchObject([
      { groupId: 'g2', reason: 'runEnded' },
    ]);
  });
});

/** A log in which the first record that fits cannot be decoded, wherever it is read. */
function poisonFirst(log: EventLog, fits: (record: LogRecord) => boolean): EventLog {
  let place: string | undefined;
  return {
    ...log,
    decode(record) {
      const here = `${record.topic}/${record.partition}/${record.offset}`;
      if (place === undefined && fits(record)) place = here;
      if (here === place) throw new EspalierError('E_EVENT_DECODE', 'damaged');
      return log.decode(record);
    },
  };
}

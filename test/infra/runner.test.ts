import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog } from '../../infra/log/eventLog.ts';
import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import { type Hop, runHop } from '../../infra/runner.ts';
import { sampleRunEnded } from '../support/sampleEvents.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

/**
 * Emits one GroupDropped for every pair of RunEnded records, and needs the first of a pair until the
 * second is there.
 */
function pairs(log: EventLog): Hop {
  return {
    name: 'second-hop',
    topics: ['scored-groups'],
    async open() {
      let held: { reason: string; offset: bigint } | null = null;
      return {
        async process(records) {
          return records.flatMap((record) => {
            const event = log.decode(record);
            if (event.type !== 'RunEnded') return [];
            if (held === null) {
              held = { reason: event.reason, offset: record.offset };
              return [];
            }
            const groupId = `${held.reason}+${event.reason}`;
            held = null;
            const dropped = {
              type: 'GroupDropped',
              runId: 'run1',
              groupId,
              reason: 'pair',
              detail: null,
            } as const;
            return [{ topic: 'verdicts' as const, event: dropped }];
          });
        },
        needs: () => held?.offset ?? null,
      };
    },
  };
}

describe('runner', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let log: EventLog;
  beforeEach(async () => {
    folder = temporaryFolder();
    log = await openLmdbLog({ dir: folder.path, partitions: 1 });
  });
  afterEach(async () => {
    await log.close();
    folder.remove();
  });
  const append = (from: number, to: number) =>
    log.append(
      Array.from({ length: to - from }, (_, i) => ({
        topic: 'scored-groups' as const,
        event: sampleRunEnded('run1', String(from + i)),
      })),
    );
  const outputs = async () =>
    (await log.read('verdicts', 0, 0n, 10_000)).map((record) => {
      const event = log.decode(record);
      return event.type === 'GroupDropped' ? event.groupId : event.type;
    });
  const expected = (count: number) => Array.from({ length: count / 2 }, (_, i) => `${2 * i}+${2 * i + 1}`);

  it('commits up to what is still needed, and reads the rest again', async () => {
    await append(0, 5);
    const run = await runHop({ log, hop: pairs(log), partition: 0 });
    await run.drained();
    await run.close();
    expect(await log.committed('second-hop', 'scored-groups', 0)).toBe(4n);
    await append(5, 8);
    const again = await runHop({ log, hop: pairs(log), partition: 0 });
    await again.drained();
    await again.close();
    expect(await outputs()).toEqual(expected(8));
    expect(await log.committed('second-hop', 'scored-groups', 0)).toBe(8n);
  });

  it('emits once even while two owners of a partition fight', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => runHop({ log, hop: pairs(log), partition: 0 })));
    for (let i = 0; i < 100; i += 4) await append(i, i + 4);
    await Promise.all(runs.map((run) => run.drained()));
    await Promise.all(runs.map((run) => run.close()));
    expect(await outputs()).toEqual(expected(100));
  });

  it('goes through more records than fit in a batch', async () => {
    await append(0, 1000);
    const run = await runHop({ log, hop: pairs(log), partition: 0 });
    await run.drained();
    expect(await outputs()).toEqual(expected(1000));
    await run.close();
  });

  it('stops with the error of its worker and says so', async () => {
    const errors: unknown[] = [];
    const broken: Hop = {
      ...pairs(log),
      open: async () => ({
        process: async () => {
          throw new Error('bad stage');
        },
        needs: () => null,
      }),
    };
    const run = await runHop({ log, hop: broken, partition: 0, onError: (error) => errors.push(error) });
    await append(0, 1);
    await expect(run.drained()).rejects.toThrow('bad stage');
    expect(errors).toHaveLength(1);
    await run.close();
  });
});

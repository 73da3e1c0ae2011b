import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog } from '../../../infra/log/eventLog.ts';
import { openLmdbLog } from '../../../infra/log/openLmdbLog.ts';
import { openChdbWarehouse } from '../../../infra/warehouse/openChdbWarehouse.ts';
import type { Warehouse } from '../../../infra/warehouse/warehouse.ts';
import { TOPIC_NAMES, TOPICS } from '../../../schemas/topics.ts';
import { startArchive } from '../../../services/archive/startArchive.ts';
import { eventArbitrary } from '../../support/eventArbitrary.ts';
import { sampleCall } from '../../support/sampleEvents.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

describe('archive', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let log: EventLog;
  let warehouse: Warehouse;
  beforeEach(async () => {
    folder = temporaryFolder();
    log = await openLmdbLog({ dir: `${folder.path}/log`, partitions: 1 });
    warehouse = await openChdbWarehouse(`${folder.path}/warehouse`);
  });
  afterEach(async () => {
    await warehouse.close();
    await log.close();
    folder.remove();
  });

  const appendEverything = async (seed: number) => {
    for (const topic of TOPIC_NAMES) {
      for (const type of TOPICS[topic].carries) {
        const events = fc.sample(eventArbitrary(type), { numRuns: 3, seed });
        await log.append(
          events.map((event) => ({ topic, event: { ...event, ...('at' in event ? { at: 1 } : {}) } })),
        );
      }
    }
  };
  const rowCounts = async () => {
    const tables = await warehouse.query(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MergeTree' AND name NOT IN ('migrations', 'archive_identity')",
    );
    const counts: Record<string, unknown> = {};
    for (const { name } of tables) {
      counts[String(name)] = Number((await warehouse.query(`SELECT count() AS n FROM ${name}`))[0]?.n);
    }
    return counts;
  };
  const logLength = async () => {
    let total = 0;
    for (const topic of TOPIC_NAMES) {
      for (let p = 0; p < log.partitions; p++) total += Number(await log.end(topic, p));
    }
    return total;
  };

  it('keeps every record of the log byte for byte, and every event in its table', async () => {
    await appendEverything(1);
    const archive = await startArchive({ log, warehouse, lingerMs: 1 });
    await archive.drain();
    await archive.close();
    const stored = await warehouse.query(
      'SELECT topic, partition, offset, key, type, base64Encode(value) AS value FROM event_log ORDER BY topic, partition, offset',
    );
    const expected = [];
    for (const topic of TOPIC_NAMES.toSorted()) {
      for (let partition = 0; partition < log.partitions; partition++) {
        for (const r of await log.read(topic, partition, 0n, 1000)) {
          const value = Buffer.from(r.value).toString('base64');
          expected.push({
            topic,
            partition,
            offset: String(r.offset),
            key: r.key,
            type: r.headers.type,
            value,
          });
        }
      }
    }
    expect(stored).toEqual(expected);
    const counts = await rowCounts();
    const empty = Object.entries(counts).filter(([table, n]) => n === 0 && table !== 'verdicts');
    expect(empty).toEqual([]);
    expect(archive.counts()).toEqual({ records: expected.length, undecodable: 0 });
    for (const { name } of await warehouse.query(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View'",
    )) {
      await warehouse.query(`SELECT * FROM ${name}`);
    }
  });

  it('keeps tokens and log-probabilities as arrays', async () => {
    const call = sampleCall();
    await log.append([{ topic: 'model-calls', event: call }]);
    const archive = await startArchive({ log, warehouse, lingerMs: 1 });
    await archive.drain();
    await archive.close();
    expect(
      await warehouse.query('SELECT env_token_ids, sampled_token_ids, rollout_logprobs FROM model_calls'),
    ).toEqual([{ env_token_ids: [1, 2, 3], sampled_token_ids: [4, 5], rollout_logprobs: [-0.5, -0.25] }]);
  });

  it('follows the log while it grows', async () => {
    const archive = await startArchive({ log, warehouse, lingerMs: 1 });
    for (let i = 0; i < 5; i++) {
      await log.append([{ topic: 'model-calls', event: sampleCall({ callId: `c${i}` }) }]);
      await archive.drain();
      const [row] = await warehouse.query('SELECT count() AS n FROM model_calls');
      expect(Number(row?.n)).toBe(i + 1);
    }
    await archive.close();
  });

  it.each(['archive:after-intent', 'archive:after-insert', 'archive:after-commit'] as const)(
    'adds nothing twice after a crash at %s, although the log grew meanwhile',
    async (place) => {
      await appendEverything(2);
      let left = place === 'archive:after-insert' ? 4 : 1;
      const errors: unknown[] = [];
      const crashed = await startArchive({
        log,
        warehouse,
        lingerMs: 1,
        crashPoint: (name) => {
          if (name === place && --left === 0) throw new Error('crash');
        },
        onError: (error) => errors.push(error),
      });
      await expect(crashed.drain()).rejects.toThrow('crash');
      await crashed.close();
      expect(errors).toHaveLength(1);
      await appendEverything(3);
      const archive = await startArchive({ log, warehouse, lingerMs: 1 });
      await archive.drain();
      await archive.close();
      const counts = await rowCounts();
      expect(counts.event_log).toBe(await logLength());

      // The same log in a new warehouse: nothing missing, nothing more.
      await warehouse.close();
      warehouse = await openChdbWarehouse(`${folder.path}/rebuilt`);
      const rebuilt = await startArchive({ log, warehouse, lingerMs: 1 });
      await rebuilt.drain();
      await rebuilt.close();
      expect(await rowCounts()).toEqual(counts);
    },
  );
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog, LogRecord } from '../../infra/log/eventLog.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import type { Topic } from '../../schemas/topics.ts';
import { sampleCall, sampleRequest, sampleRunEnded } from '../support/sampleEvents.ts';

/** Opens logs over one and the same storage; each call is another connection to it. */
export interface EventLogFixture {
  open(): Promise<EventLog>;
  dispose(): Promise<void>;
}

const coded = (code: string) => expect.objectContaining({ code });

/** What every event log must do, run against each adapter. */
export function testEventLog(name: string, createFixture: () => Promise<EventLogFixture>): void {
  describe(`event log: ${name}`, () => {
    let fixture: EventLogFixture;
    let log: EventLog;
    beforeEach(async () => {
      fixture = await createFixture();
      log = await fixture.open();
    });
    afterEach(async () => {
      await log.close();
      await fixture.dispose();
    });
    const partition = (key: string) => partitionOf(key, log.partitions);
    const all = (topic: Topic, p: number, source = log) => source.read(topic, p, 0n, 100_000);
    const reasons = (records: readonly LogRecord[]) =>
      records.map((r) => {
        const event = log.decode(r);
        return event.type === 'RunEnded' ? event.reason : event.type;
      });
    const ended = (reason: string, runId = 'run1') =>
      ({ topic: 'scored-groups', event: sampleRunEnded(runId, reason) }) as const;

    it('gives back what was appended, with key, headers and position', async () => {
      const call = sampleCall();
      const positions = await log.append([
        { topic: 'model-calls', event: call },
        { topic: 'rollout-requests', event: sampleRequest() },
        { topic: 'model-calls', event: { ...call, callId: 'c2' } },
      ]);
      const p = partition('g1');
      expect(positions).toEqual([
        { partition: p, offset: 0n },
        { partition: p, offset: 0n },
        { partition: p, offset: 1n },
      ]);
      const records = await all('model-calls', p);
      expect(records.map((r) => r.offset)).toEqual([0n, 1n]);
      expect(records[0]).toMatchObject({
        topic: 'model-calls',
        partition: p,
        key: 'g1',
        headers: { type: 'ModelCalled', run: 'run1', group: 'g1', rollout: 'r1', attempt: '0', call: 'c1' },
      });
      expect(log.decode(records[0] as LogRecord)).toStrictEqual(call);
      expect(await log.end('model-calls', p)).toBe(2n);
      expect(await log.end('rewards', p)).toBe(0n);
    });

    it('keeps the order of a partition and puts a key always in the same one', async () => {
      const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
      for (let i = 0; i < 5; i++) await log.append(keys.map((key) => ended(String(i), key)));
      for (const key of keys) {
        const own = (await all('scored-groups', partition(key))).filter((r) => r.key === key);
        expect(reasons(own)).toEqual(['0', '1', '2', '3', '4']);
      }
    });

    it('allocates offsets without gaps under concurrent appends', async () => {
      const other = await fixture.open();
      const appends = Array.from({ length: 200 }, (_, i) =>
        (i % 2 === 0 ? log : other).append([ended(String(i)), ended(`${i}b`)]),
      );
      const offsets = (await Promise.all(appends)).flat().map((position) => Number(position.offset));
      expect(offsets.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 400 }, (_, i) => i));
      const found = reasons(await all('scored-groups', partition('run1')));
      for (let i = 0; i < 200; i++) expect(found[found.indexOf(String(i)) + 1]).toBe(`${i}b`);
      await other.close();
    });

    it('reads bounded by count and bytes, from any offset, and never waits', async () => {
      await log.append(Array.from({ length: 20 }, (_, i) => ended(String(i))));
      const p = partition('run1');
      expect(reasons(await log.read('scored-groups', p, 5n, 3))).toEqual(['5', '6', '7']);
      expect(await log.read('scored-groups', p, 20n, 3)).toEqual([]);
      expect((await log.read('scored-groups', p, 0n, 100, 1)).length).toBe(1);
    });

    it('moves offsets and appends outputs in one step', async () => {
      const p = partition('run1');
      const move = { topic: 'scored-groups', partition: p } as const;
      expect(await log.committed('hop', 'scored-groups', p)).toBe(0n);
      await log.commit('hop', [ended('out')], [{ ...move, from: 0n, to: 7n }]);
      expect(await log.committed('hop', 'scored-groups', p)).toBe(7n);
      expect(await log.committed('other', 'scored-groups', p)).toBe(0n);
      expect(reasons(await all('scored-groups', p))).toEqual(['out']);
    });

    it('refuses a commit of a consumer that stands elsewhere, and writes nothing of it', async () => {
      const p = partition('run1');
      const at = (topic: Topic, from: bigint, to: bigint) => ({ topic, partition: p, from, to });
      await log.commit('hop', [], [at('rewards', 0n, 3n)]);
      const late = log.commit('hop', [ended('lost')], [at('rollouts', 0n, 9n), at('rewards', 0n, 5n)]);
      await expect(late).rejects.toThrow(coded('E_LOG_CONFLICT'));
      expect(await log.committed('hop', 'rewards', p)).toBe(3n);
      expect(await log.committed('hop', 'rollouts', p)).toBe(0n);
      expect(await all('scored-groups', p)).toEqual([]);
    });

    it('lets exactly one of many concurrent commits from one position win', async () => {
      const other = await fixture.open();
      const p = partition('run1');
      const tries = Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? log : other).commit(
          'hop',
          [ended(String(i))],
          [{ topic: 'rewards', partition: p, from: 0n, to: 1n }],
        ),
      );
      const results = await Promise.allSettled(tries);
      expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(1);
      expect(await all('scored-groups', p)).toHaveLength(1);
      await other.close();
    });

    it('keeps everything when it is closed and opened again', async () => {
      const p = partition('run1');
      await log.append([ended('kept')]);
      await log.commit('hop', [], [{ topic: 'scored-groups', partition: p, from: 0n, to: 1n }]);
      await log.close();
      log = await fixture.open();
      expect(reasons(await all('scored-groups', p))).toEqual(['kept']);
      expect(await log.committed('hop', 'scored-groups', p)).toBe(1n);
    });

    it('wakes those who wait, for appends of its own and of others', async () => {
      const other = await fixture.open();
      const start = await log.waitForAppend(0, 0);
      expect(await log.waitForAppend(start, 10)).toBe(start);
      const own = log.waitForAppend(start, 20_000);
      await log.append([ended('one')]);
      const next = await own;
      expect(next).toBeGreaterThan(start);
      const foreign = log.waitForAppend(next, 20_000);
      await other.append([ended('two')]);
      expect(await foreign).toBeGreaterThan(next);
      await other.close();
    });

    it('refuses what is too large or out of place, and writes nothing of the batch', async () => {
      const huge = sampleCall({ envTokenIds: new Int32Array(5 * 1024 ** 2) });
      const batch = [ended('first'), { topic: 'model-calls', event: huge }] as const;
      await expect(log.append(batch)).rejects.toThrow(coded('E_LOG_RECORD_TOO_LARGE'));
      const misplaced = log.append([{ topic: 'rewards', event: sampleCall() }]);
      await expect(misplaced).rejects.toThrow(coded('E_EVENT_ENCODE'));
      expect(await all('scored-groups', partition('run1'))).toEqual([]);
    });

    it('says which records it cannot decode', async () => {
      await log.append([ended('fine')]);
      const [record] = await all('scored-groups', partition('run1'));
      const damaged = (value: Uint8Array): LogRecord => ({ ...(record as LogRecord), value });
      expect(() => log.decode(damaged(Uint8Array.of(0, 9, 9, 9, 9, 1)))).toThrow(coded('E_EVENT_DECODE'));
      expect(() => log.decode(damaged(Uint8Array.of(1, 2)))).toThrow(coded('E_EVENT_DECODE'));
      const cut = (record as LogRecord).value.subarray(0, 8);
      expect(() => log.decode(damaged(cut))).toThrow(coded('E_EVENT_DECODE'));
    });
  });
}

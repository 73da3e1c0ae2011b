import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventLog } from '../../../infra/log/eventLog.ts';
import { openLmdbLog } from '../../../infra/log/openLmdbLog.ts';
import { openChdbWarehouse } from '../../../infra/warehouse/openChdbWarehouse.ts';
import type { Warehouse } from '../../../infra/warehouse/warehouse.ts';
import { startArchive } from '../../../services/archive/startArchive.ts';
import { startProcessor } from '../../../services/processor/startProcessor.ts';
import { runStart, toTopic, wholeGroup } from '../../support/groupWorld.ts';
import { sampleCall } from '../../support/sampleEvents.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

// One run: two groups trained in a batch, one cut after the end of the run, one evaluated, one still open
// with a single call, and a call that came too late.
describe('views of the archive', () => {
  const folder = temporaryFolder();
  let log: EventLog;
  let warehouse: Warehouse;
  beforeAll(async () => {
    log = await openLmdbLog({ dir: `${folder.path}/log` });
    warehouse = await openChdbWarehouse(`${folder.path}/warehouse`);
    const archive = await startArchive({ log, warehouse, lingerMs: 1 });
    const processor = await startProcessor({ log });
    await log.append(runStart('run1', { groupsPerBatch: 2, maxQueuedBatches: 100 }));
    for (const groupId of ['g1', 'g2', 'g3', 'eval']) {
      const { requests, events } = wholeGroup('run1', groupId);
      const purpose = groupId === 'eval' ? 'eval' : 'train';
      await log.append(
        requests.map(({ topic, event }) => ({ topic, event: { ...event, purpose } as typeof event })),
      );
      await log.append(events);
    }
    const open = wholeGroup('run1', 'open');
    await log.append([...open.requests, ...open.events.slice(0, 1)]);
    await processor.drained();
    await log.append([toTopic(sampleCall({ groupId: 'g1', rolloutId: 'g1-0', callId: 'late' }))]);
    await log.append([toTopic({ type: 'RunEnded', runId: 'run1', reason: 'cancelled', at: 1 })]);
    await processor.drained();
    await processor.close();
    await archive.drain();
    await archive.close();
  });
  afterAll(async () => {
    await warehouse.close();
    await log.close();
    folder.remove();
  });

  it('call_fate gives every call one fate; a dropped group overrides what its tree said', async () => {
    const rows = await warehouse.query(
      'SELECT group_id, call_id, fate, reason FROM call_fate ORDER BY group_id, call_id',
    );
    const fates = (group: string) =>
      rows.filter((row) => row.group_id === group).map((row) => [row.fate, row.reason].join(' ').trim());
    expect(rows).toHaveLength(4 * 4 + 2);
    const trained = await warehouse.query('SELECT arrayJoin(groups) AS g FROM training_batches ORDER BY g');
    expect(trained).toHaveLength(2);
    for (const { g } of trained)
      expect(fates(String(g)).filter((fate) => fate === 'trained')).toHaveLength(4);
    const left = ['g1', 'g2', 'g3'].find((g) => !trained.some((row) => row.g === g)) as string;
    expect(fates(left).filter((fate) => fate === 'dropped runEnded')).toHaveLength(4);
    expect(fates('eval')).toEqual(Array(4).fill('dropped evaluation'));
    expect(fates('open')).toEqual(['pending']);
    expect(rows.find((row) => row.call_id === 'late')).toMatchObject({ fate: 'dropped', reason: 'late' });
  });

  it('pass_at_1 counts settled rollouts by purpose and harness', async () => {
    expect(
      await warehouse.query(
        'SELECT purpose, step, harness, policy_version, rollouts, passed, pass_at_1 FROM pass_at_1 ORDER BY purpose',
      ),
    ).toEqual([
      {
        purpose: 'eval',
        step: 0,
        harness: 'alder',
        policy_version: 'v0',
        rollouts: '2',
        passed: '1',
        pass_at_1: 0.5,
      },
      {
        purpose: 'train',
        step: 0,
        harness: 'alder',
        policy_version: 'v0',
        rollouts: '6',
        passed: '3',
        pass_at_1: 0.5,
      },
    ]);
  });

  it('discards, tokens and staleness add up', async () => {
    expect(
      await warehouse.query("SELECT reason, count FROM discards WHERE scope = 'group' ORDER BY reason"),
    ).toEqual([
      { reason: 'evaluation', count: '1' },
      { reason: 'runEnded', count: '1' },
    ]);
    const [tokens] = await warehouse.query('SELECT sum(sampled) AS sampled FROM tokens_by_verdict');
    const [calls] = await warehouse.query(
      'SELECT sum(length(sampled_token_ids)) AS sampled FROM model_calls',
    );
    expect(tokens).toEqual(calls);
    const [trained] = await warehouse.query("SELECT sampled FROM tokens_by_verdict WHERE fate = 'trained'");
    const [batch] = await warehouse.query('SELECT toString(trained_tokens) AS sampled FROM training_batches');
    expect(trained).toEqual(batch);
    expect(await warehouse.query('SELECT batch_number, samples, max_staleness FROM staleness')).toEqual([
      { batch_number: 0, samples: '4', max_staleness: '0' },
    ]);
    expect(await warehouse.query('SELECT trees, max_leaves FROM branching')).toMatchObject([
      { max_leaves: 1 },
    ]);
  });
});

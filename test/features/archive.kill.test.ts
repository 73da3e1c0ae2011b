import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import { startChild } from '../../infra/process/startChild.ts';
import { openChdbWarehouse } from '../../infra/warehouse/openChdbWarehouse.ts';
import { startArchive } from '../../services/archive/startArchive.ts';
import { sampleCall, sampleRequest } from '../support/sampleEvents.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const CHILD = fileURLToPath(new URL('../support/archiveChild.ts', import.meta.url));

it('an archive that is killed again and again loses nothing and adds nothing twice', async () => {
  const folder = temporaryFolder();
  const dirs = [`${folder.path}/log`, `${folder.path}/warehouse`] as const;
  const log = await openLmdbLog({ dir: dirs[0], partitions: 2 });
  let calls = 0;
  const append = async () => {
    const groupId = `g${calls % 5}`;
    await log.append([
      { topic: 'rollout-requests', event: sampleRequest({ groupId, rolloutId: `r${calls}` }) },
      { topic: 'model-calls', event: sampleCall({ groupId, callId: `c${calls++}` }) },
    ]);
  };
  for (const pause of [20, 100, 300]) {
    for (let i = 0; i < 30; i++) await append();
    const child = await startChild({
      script: CHILD,
      args: [...dirs],
      execArgv: ['--import', 'tsx'],
      output: 'pipe',
    });
    await once(child.process.stdout!, 'data');
    if (pause === 300) {
      await expect(openChdbWarehouse(dirs[1])).rejects.toThrow(
        expect.objectContaining({ code: 'E_DATA_DIR_OWNED' }),
      );
    }
    for (let i = 0; i < 20; i++) await append();
    await delay(pause);
    child.process.kill('SIGKILL');
    await child.exited;
  }
  const warehouse = await openChdbWarehouse(dirs[1]);
  const archive = await startArchive({ log, warehouse, lingerMs: 1 });
  await archive.drain();
  await archive.close();
  expect(
    await warehouse.query(
      'SELECT count() AS n, uniqExact(topic, partition, offset) AS distinct FROM event_log',
    ),
  ).toEqual([{ n: String(2 * calls), distinct: String(2 * calls) }]);
  expect(
    await warehouse.query('SELECT count() AS n, uniqExact(call_id) AS distinct FROM model_calls'),
  ).toEqual([{ n: String(calls), distinct: String(calls) }]);
  await warehouse.close();
  await log.close();
  folder.remove();
});

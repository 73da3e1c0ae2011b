import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import { sampleRunEnded } from '../support/sampleEvents.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { testEventLog } from './eventLog.features.ts';

testEventLog('LMDB', async () => {
  const folder = temporaryFolder();
  return { open: () => openLmdbLog({ dir: folder.path }), dispose: async () => folder.remove() };
});

const WRITER = fileURLToPath(new URL('../support/logWriter.ts', import.meta.url));

/** Starts a writing child; resolves with its acknowledgements once there are `count`. */
function startWriter(dir: string, name: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', WRITER, dir, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged: number[] = [];
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> });
  const reached = (count: number) =>
    new Promise<void>((resolve) => {
      const check = () => acknowledged.length >= count && resolve();
      lines.on('line', check);
      check();
    });
  lines.on('line', (line) => acknowledged.push(Number(line)));
  const kill = () =>
    new Promise<void>((resolve) => {
      lines.once('close', () => resolve());
      child.kill('SIGKILL');
    });
  return { acknowledged, reached, kill };
}

describe('event log: LMDB, several processes', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('loses no acknowledged commit and shows no half one after kill -9', async () => {
    for (let round = 0; round < 2; round++) {
      const writers = ['w1', 'w2'].map((name) => ({ name, ...startWriter(folder.path, name) }));
      await Promise.all(writers.map((w) => w.reached(20)));
      await Promise.all(writers.map((w) => w.kill()));
      const log = await openLmdbLog({ dir: folder.path });
      for (const { name, acknowledged } of writers) {
        const partition = partitionOf(name, log.partitions);
        const records = await log.read('scored-groups', partition, 0n, 1_000_000);
        expect(records.map((r) => Number(r.offset))).toEqual(records.map((_, i) => i));
        const own = records
          .map((r) => log.decode(r))
          .flatMap((e) => (e.type === 'RunEnded' && e.runId === name ? [e.reason] : []));
        const position = Number(await log.committed(name, 'scored-groups', partition));
        expect(position).toBeGreaterThanOrEqual(acknowledged.at(-1) as number);
        expect(own).toEqual(Array.from({ length: position }, (_, i) => [`${i}a`, `${i}b`]).flat());
      }
      await log.close();
    }
  });

  it('sees and wakes for what another process appends', async () => {
    const log = await openLmdbLog({ dir: folder.path });
    const seen = log.waitForAppend(await log.waitForAppend(0, 0), 30_000);
    const writer = startWriter(folder.path, 'w1');
    expect(await seen).toBeGreaterThan(0);
    await writer.reached(5);
    await log.append([{ topic: 'scored-groups', event: sampleRunEnded('w1', 'mine') }]);
    await writer.reached(writer.acknowledged.length + 5);
    await writer.kill();
    const records = await log.read('scored-groups', partitionOf('w1', log.partitions), 0n, 1_000_000);
    const mine = records.filter((r) => (log.decode(r) as { reason: string }).reason === 'mine');
    expect(mine).toHaveLength(1);
    expect(records.length).toBeGreaterThan(20);
    await log.close();
  });

  it('keeps the number of partitions for ever', async () => {
    await (await openLmdbLog({ dir: folder.path, partitions: 3 })).close();
    const log = await openLmdbLog({ dir: folder.path });
    expect(log.partitions).toBe(3);
    await log.close();
    await expect(openLmdbLog({ dir: folder.path, partitions: 4 })).rejects.toThrow(
      expect.objectContaining({ code: 'E_LOG_PARTITIONS' }),
    );
  });

  it('says so when the folder cannot be written or holds no log', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    const unwritable = expect.objectContaining({ code: 'E_DATA_DIR_WRITE' });
    await expect(openLmdbLog({ dir: join(file, 'log') })).rejects.toThrow(unwritable);
    await expect(openLmdbLog({ dir: join(folder.path, 'none'), readOnly: true })).rejects.toThrow(unwritable);
  });

  it('can be read beside its owner', async () => {
    const owner = await openLmdbLog({ dir: folder.path });
    const reader = await openLmdbLog({ dir: folder.path, readOnly: true });
    await owner.append([{ topic: 'scored-groups', event: sampleRunEnded('run1', 'late') }]);
    const partition = partitionOf('run1', 4);
    expect(await reader.read('scored-groups', partition, 0n, 10)).toHaveLength(1);
    await reader.close();
    await owner.close();
  });
});

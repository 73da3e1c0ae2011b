import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERRORS } from '../../../schemas/errors.ts';
import type { CheckResult } from './check.ts';

/**
 * Whether chDB loads. In a process of its own: the library is large, and one that does not fit the
 * machine may take its process down.
 */
export async function checkChdb(): Promise<CheckResult> {
  const script = `import('chdb').then((m) => process.stdout.write(String((m.default ?? m).query('SELECT version()', 'CSV'))))`;
  const found = await new Promise<{ readonly ok: boolean; readonly text: string }>((done) => {
    const options = { timeout: 60_000, cwd: new URL('.', import.meta.url) };
    execFile(process.execPath, ['--input-type=module', '-e', script], options, (error, stdout, stderr) =>
      done(
        error === null
          ? { ok: true, text: stdout.trim().replaceAll('"', '') }
          : { ok: false, text: reason(stderr) },
      ),
    );
  });
  if (found.ok) return { name: 'chdb', state: 'ok', detail: `ClickHouse ${found.text}` };
  return {
    name: 'chdb',
    state: 'limited',
    detail: found.text,
    fix: `${ERRORS.E_CHDB_MISSING.fix} Only \`sql\` needs it.`,
  };
}

const reason = (stderr: string): string => /Error: (.*)/.exec(stderr)?.[1]?.slice(0, 100) ?? 'does not load';

/** Whether the embedded log opens and takes a write. */
export async function checkLog(): Promise<CheckResult> {
  const dir = await mkdtemp(join(tmpdir(), 'espalier-doctor-'));
  try {
    const { openLmdbLog } = await import('../../../infra/log/openLmdbLog.ts');
    const log = await openLmdbLog({ dir, partitions: 1 });
    await log.append([
      { topic: 'scored-groups', event: { type: 'RunEnded', runId: 'doctor', reason: 'probe', at: 0 } },
    ]);
    await log.close();
    return { name: 'lmdb', state: 'ok', detail: 'the embedded log takes writes' };
  } catch (error) {
    return {
      name: 'lmdb',
      state: 'missing',
      detail: (error as Error).message.split('\n')[0] ?? '',
      fix: 'Install the packages again with `npm ci`, on the machine that runs them.',
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Whether a server can listen on the loopback address. */
export async function checkLoopback(): Promise<CheckResult> {
  const problem = await new Promise<string | undefined>((done) => {
    const server = createServer();
    server.once('error', (error) => done(error.message));
    server.listen(0, '127.0.0.1', () => server.close(() => done(undefined)));
  });
  if (problem === undefined) return { name: 'ports', state: 'ok', detail: '127.0.0.1 accepts listeners' };
  return { name: 'ports', state: 'missing', detail: problem, fix: 'Allow listening on 127.0.0.1.' };
}

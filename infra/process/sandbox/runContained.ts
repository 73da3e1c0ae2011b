// One command, contained: clean environment, limits, own process group or own namespaces, and nothing left after it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { EspalierError } from '../../../schemas/errors.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { collectOutput } from './collectOutput.ts';
import type { ContainedOptions, ContainedResult } from './containment.ts';
import { endLease, ownIdentity, writeLease } from './leases.ts';
import { prepareCommand } from './prepareCommand.ts';
import { identifyProcess } from './processIdentity.ts';
import { askToEnd, killAll } from './stopProcesses.ts';
import { watchLimits } from './watchLimits.ts';

/**
 * Runs a command to its end, its wall limit, another limit, or the abort of `signal`, whichever is first. When the
 * promise settles no process of the run is alive: what it left behind was killed, also what had left its process
 * group (found by bubblewrap's process namespace, else by a mark in the environment).
 * @throws EspalierError E_SANDBOX_START when the command could not be started at all
 */
export async function runContained(options: ContainedOptions): Promise<ContainedResult> {
  const mark = randomUUID();
  const owner = ownIdentity();
  const command = await prepareCommand(options);
  writeLease(options.leaseDir, { mark, owner, paths: command.paths });
  try {
    const child = spawn(command.argv[0] ?? '', command.argv.slice(1), {
      cwd: options.cwd,
      env: cleanEnvironment(options.home, mark, options.env),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const leader = child.pid === undefined ? undefined : identifyProcess(child.pid);
    if (leader !== undefined) writeLease(options.leaseDir, { mark, owner, leader, paths: command.paths });
    return await superviseChild(child, mark, options);
  } finally {
    await command.close();
    endLease(options.leaseDir, mark);
  }
}

async function superviseChild(
  child: ChildProcess,
  mark: string,
  options: ContainedOptions,
): Promise<ContainedResult> {
  const startedAt = performance.now();
  const output = collectOutput(child, options.stdoutFile);
  const { limits, signal } = options;
  const bubblewrap = options.isolation === 'bubblewrap';
  let stopped: 'time' | 'abort' | 'memory' | 'processes' | undefined;
  let killTimer: NodeJS.Timeout | undefined;
  const pid = child.pid;

  const stop = (why: NonNullable<typeof stopped>): void => {
    if (stopped !== undefined || pid === undefined) return;
    stopped = why;
    const gentle = why === 'time' || why === 'abort';
    if (gentle) askToEnd(pid, bubblewrap);
    killTimer = setTimeout(() => void killAll(pid, mark), gentle ? (limits.graceMs ?? 1_000) : 0);
  };
  const onAbort = (): void => stop('abort');
  const wallTimer = setTimeout(() => stop('time'), limits.wallMs);
  const unwatch = pid === undefined ? () => {} : watchLimits(pid, limits, stop);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();

  try {
    const end = await waitForExit(child);
    const wallMs = performance.now() - startedAt;
    const leftBehind = await killAll(pid, mark);
    await output.finish();
    if (end.error !== undefined || (!output.started() && stopped === undefined)) {
      const said = end.error?.message ?? (output.stderr().trim() || `exit code ${end.exitCode}`);
      throw new EspalierError('E_SANDBOX_START', `the sandbox could not start: ${said}`);
    }
    return {
      exitCode: end.exitCode,
      signal: end.signal,
      timedOut: stopped === 'time',
      aborted: stopped === 'abort',
      exceeded: stopped === 'memory' || stopped === 'processes' ? stopped : null,
      wallMs,
      stdoutTail: output.stdout(),
      stderrTail: output.stderr(),
      leftBehind,
    };
  } finally {
    clearTimeout(wallTimer);
    clearTimeout(killTimer);
    unwatch();
    signal?.removeEventListener('abort', onAbort);
  }
}

interface ChildEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly error?: Error;
}

function waitForExit(child: ChildProcess): Promise<ChildEnd> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ exitCode: null, signal: null, error }));
    child.on('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

import { type ChildProcess, spawn } from 'node:child_process';

/** How a child ended. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running child process. */
export interface Child {
  readonly pid: number;
  readonly process: ChildProcess;
  readonly exited: Promise<ChildExit>;
  /** Asks the child's process group to end, kills it after the grace time; resolves when it is gone. */
  close(graceMs?: number): Promise<ChildExit>;
}

/**
 * Starts a JavaScript or TypeScript program of ours as a child, in a process group of its own. It is
 * never restarted here: who needs it decides. Its standard input is a pipe that ends with this
 * process, however that dies; see `endWithParent`.
 *
 * @param options.execArgv flags of node before the script, such as a loader
 * @param options.output where standard output and error go; `inherit` sends both to stderr
 */
export async function startChild(options: {
  readonly script: string;
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  readonly cwd?: string;
  readonly output?: 'inherit' | 'pipe' | 'ignore';
}): Promise<Child> {
  const { script, args = [], execArgv = [], output = 'inherit' } = options;
  const child = spawn(process.execPath, [...execArgv, script, ...args], {
    detached: true,
    // Standard output of this program may be a JSON document; a child must not write into it.
    stdio: ['pipe', output === 'inherit' ? 2 : output, output],
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.stdin?.on('error', () => {});
  const pid = child.pid as number;

  const signalGroup = (signal: NodeJS.Signals) => {
    try {
      process.kill(-pid, signal);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause;
    }
  };
  return {
    pid,
    process: child,
    exited,
    async close(graceMs = 2000) {
      if (child.exitCode === null && child.signalCode === null) signalGroup('SIGTERM');
      const timer = setTimeout(() => signalGroup('SIGKILL'), graceMs);
      const exit = await exited;
      clearTimeout(timer);
      // Grandchildren that outlived the child belong to the same group.
      signalGroup('SIGKILL');
      return exit;
    },
  };
}

/** In a child: runs `end` when the parent is gone. */
export function endWithParent(end: () => void): void {
  process.stdin.on('end', end);
  process.stdin.on('error', end);
  process.stdin.resume();
  process.stdin.unref?.();
}

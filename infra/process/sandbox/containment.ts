// The vocabulary of contained runs: what may be asked for and what comes back.

/** bubblewrap: own namespaces, no network but the model bridge. process: a process group and limits only. */
export type Isolation = 'bubblewrap' | 'process';

export interface ContainmentLimits {
  /** Wall clock, milliseconds. At its end SIGTERM, after `graceMs` SIGKILL, both to everything that runs. */
  readonly wallMs: number;
  /** Default 1000. */
  readonly graceMs?: number;
  /** Data segment of each process, and resident memory of all together (sampled), MiB. */
  readonly memoryMb?: number;
  /** Processes at one time (sampled). */
  readonly processes?: number;
  /** Largest file that may be written, MiB. */
  readonly diskMb?: number;
}

export interface ContainedOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** HOME of the run: a fresh writable directory. */
  readonly home: string;
  /** Everything the run sees besides PATH, HOME and LANG; the parent's environment is never passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly isolation: Isolation;
  readonly limits: ContainmentLimits;
  /** Directory of lease files, see `reapLeases`. */
  readonly leaseDir: string;
  /** Paths bound into the sandbox; without bubblewrap they are simply there. */
  readonly readOnly?: readonly string[];
  readonly writable?: readonly string[];
  /** The one address the run may reach: 127.0.0.1:proxyPort, inside as outside. */
  readonly proxyPort?: number;
  /** A unix socket that already serves the model; without it one is made that leads to proxyPort. */
  readonly proxySocket?: string;
  /** Full output goes here too, up to 32 MiB. */
  readonly stdoutFile?: string;
  readonly signal?: AbortSignal;
}

export interface ContainedResult {
  /** Null when a signal ended the run. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  /** The sampled limit that ended the run. */
  readonly exceeded: 'memory' | 'processes' | null;
  readonly wallMs: number;
  /** The last 16 KiB of each stream. */
  readonly stdoutTail: string;
  readonly stderrTail: string;
  /** Processes that outlived the command and were killed. */
  readonly leftBehind: number;
}

/** Environment variable that marks every process of one run, so that those who left the group are found. */
export const markVariable = 'SANDBOX_MARK';

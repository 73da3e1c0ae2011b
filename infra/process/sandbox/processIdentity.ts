import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the system's own form (clock ticks since boot on Linux). */
  readonly startedAt: string;
  readonly bootId: string;
}

/** The identity of a running process, or undefined when there is none with that number. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startTicks(pid) : startedAtByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt, bootId: readBootId() };
}

/** Whether this very process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid);
  return now !== undefined && now.startedAt === identity.startedAt && now.bootId === identity.bootId;
}

/** Changes at every boot; empty where the system has no such thing. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

function startTicks(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may itself hold spaces and parentheses: count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startedAtByPs(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
}

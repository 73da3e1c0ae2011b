// A lease file per running sandbox. Whoever finds one whose owner is dead ends what the owner left behind.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifyProcess, isRunning, type ProcessIdentity, readBootId } from './processIdentity.ts';
import { killAll } from './stopProcesses.ts';

export interface Lease {
  readonly mark: string;
  readonly owner: ProcessIdentity;
  /** The leader of the sandbox's process group; absent until it has started. */
  readonly leader?: ProcessIdentity;
  /** Temporary paths that go with the sandbox. */
  readonly paths: readonly string[];
}

/** Writes or replaces a lease, atomically. */
export function writeLease(directory: string, lease: Lease): void {
  mkdirSync(directory, { recursive: true });
  const file = leaseFile(directory, lease.mark);
  writeFileSync(`${file}.tmp`, JSON.stringify(lease));
  renameSync(`${file}.tmp`, file);
}

/** Removes the lease of a sandbox that has ended. */
export function endLease(directory: string, mark: string): void {
  rmSync(leaseFile(directory, mark), { force: true });
}

/** This process as the owner of leases. */
export function ownIdentity(): ProcessIdentity {
  return identifyProcess(process.pid) ?? { pid: process.pid, startedAt: '', bootId: readBootId() };
}

/**
 * Ends every sandbox in the directory whose owner no longer runs and returns their marks. Call it at start.
 * A process number that was reused is recognised by its start time and left alone.
 */
export async function reapLeases(directory: string): Promise<string[]> {
  const reaped: string[] = [];
  for (const name of listLeases(directory)) {
    const lease = readLease(join(directory, name));
    if (lease === undefined) rmSync(join(directory, name), { force: true });
    if (lease === undefined || isRunning(lease.owner)) continue;
    if (lease.owner.bootId === readBootId()) {
      const leaderRuns = lease.leader !== undefined && isRunning(lease.leader);
      await killAll(leaderRuns ? lease.leader.pid : undefined, lease.mark);
    }
    for (const path of lease.paths) rmSync(path, { recursive: true, force: true });
    endLease(directory, lease.mark);
    reaped.push(lease.mark);
  }
  return reaped;
}

function listLeases(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.lease.json'));
  } catch {
    return [];
  }
}

function readLease(file: string): Lease | undefined {
  try {
    const lease = JSON.parse(readFileSync(file, 'utf8')) as Lease;
    return typeof lease.mark === 'string' && typeof lease.owner?.pid === 'number' ? lease : undefined;
  } catch {
    return undefined; // half a file cannot be: it was renamed into place, so this one is not ours
  }
}

function leaseFile(directory: string, mark: string): string {
  return join(directory, `${mark}.lease.json`);
}

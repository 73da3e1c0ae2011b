import { setTimeout as sleep } from 'node:timers/promises';
import { listDescendants, listMarked } from './processTable.ts';

/** Sends one signal to a process group; false when it has no member left. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  return send(-group, signal);
}

/**
 * Asks everything in the run to end. Inside bubblewrap the two outer processes are left out: they end with
 * the command, and killing them first would kill it without a chance to finish.
 */
export function askToEnd(pid: number, bubblewrap: boolean): void {
  if (!bubblewrap) {
    signalGroup(pid, 'SIGTERM');
    return;
  }
  for (const inner of listDescendants(pid).slice(1)) send(inner, 'SIGTERM');
}

/**
 * Kills the group and every process that carries the mark, until none is left or two seconds passed.
 * Returns how many processes still ran. Without /proc only the group can be found.
 */
export async function killAll(group: number | undefined, mark: string): Promise<number> {
  const seen = new Set<number>();
  for (let round = 0; round < 200; round += 1) {
    const marked = listMarked(mark);
    const groupLeft = group !== undefined && signalGroup(group, 'SIGKILL');
    for (const pid of marked) {
      seen.add(pid);
      send(pid, 'SIGKILL');
    }
    if (marked.length === 0 && (!groupLeft || round > 0)) break;
    await sleep(10);
  }
  return seen.size;
}

function send(target: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false;
  }
}

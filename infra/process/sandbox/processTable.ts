// Reads of /proc. Where there is none (macOS) every list is empty and the process group is all we have.
import { readdirSync, readFileSync } from 'node:fs';
import { markVariable } from './containment.ts';

const pageBytes = 4096;

/** Process ids below `root`, nearest first, `root` left out. */
export function listDescendants(root: number): number[] {
  const found: number[] = [];
  const queue = [root];
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    for (const child of listChildren(pid)) {
      found.push(child);
      queue.push(child);
    }
  }
  return found;
}

/** Children of one process, those forked by its threads included. */
export function listChildren(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Process ids whose start environment carries the mark. Zombies have none and are left out. */
export function listMarked(mark: string): number[] {
  const needle = Buffer.from(`${markVariable}=${mark}\0`);
  return listAll().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`).includes(needle);
    } catch {
      return false; // gone meanwhile, or another user's
    }
  });
}

/** Resident memory of the given processes, bytes. */
export function residentBytes(pids: readonly number[]): number {
  let total = 0;
  for (const pid of pids) {
    try {
      total += Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1] ?? 0) * pageBytes;
    } catch {
      // gone meanwhile
    }
  }
  return total;
}

function listAll(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

import type { ContainmentLimits } from './containment.ts';
import { listDescendants, residentBytes } from './processTable.ts';

const everyMs = 200;

/**
 * Samples a run's processes and calls `onExceeded` once when they are too many or too large together. Kernel
 * limits alone do not do: the one on processes counts the whole user, the one on memory each process.
 * Returns the function that stops watching.
 */
export function watchLimits(
  pid: number,
  limits: ContainmentLimits,
  onExceeded: (what: 'memory' | 'processes') => void,
): () => void {
  const { memoryMb, processes } = limits;
  if (memoryMb === undefined && processes === undefined) return () => {};
  const timer = setInterval(() => {
    const pids = [pid, ...listDescendants(pid)];
    const tooMany = processes !== undefined && pids.length > processes;
    const tooLarge = memoryMb !== undefined && residentBytes(pids) > memoryMb * 2 ** 20;
    if (!tooMany && !tooLarge) return;
    clearInterval(timer);
    onExceeded(tooMany ? 'processes' : 'memory');
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

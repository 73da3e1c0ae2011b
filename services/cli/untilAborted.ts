import { once } from 'node:events';

/** Resolves when a signal is aborted; at once if it was before. Keeps the process alive meanwhile. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await once(signal, 'abort');
  } finally {
    clearInterval(alive);
  }
}

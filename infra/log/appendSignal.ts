/** Wakes those who wait for appends. */
export interface AppendSignal {
  /** Something was appended by this process. */
  notify(): void;
  /** Resolves with the count once it exceeds `since`, or with the present one after the time-out. */
  wait(since: number, timeoutMs: number): Promise<number>;
  /** Releases all waiters. */
  close(): void;
}

interface Waiter {
  readonly since: number;
  readonly resolve: (count: number) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Appends of this process wake waiters at once; those of other processes are found by reading the
 * shared count every `pollMs`, and only while somebody waits.
 */
export function createAppendSignal(readCount: () => number, pollMs: number): AppendSignal {
  const waiters = new Set<Waiter>();
  let poll: NodeJS.Timeout | undefined;
  let closed = false;

  const settle = (waiter: Waiter, count: number) => {
    clearTimeout(waiter.timer);
    waiters.delete(waiter);
    waiter.resolve(count);
    if (waiters.size === 0) {
      clearInterval(poll);
      poll = undefined;
    }
  };
  const check = () => {
    if (waiters.size === 0) return;
    const count = readCount();
    for (const waiter of [...waiters]) if (count > waiter.since) settle(waiter, count);
  };
  return {
    notify: check,
    wait(since, timeoutMs) {
      const count = closed ? since : readCount();
      if (closed || count > since || timeoutMs <= 0) return Promise.resolve(count);
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle(waiter, closed ? since : readCount()), timeoutMs);
        const waiter: Waiter = { since, resolve, timer };
        waiters.add(waiter);
        poll ??= setInterval(check, pollMs);
      });
    },
    close() {
      closed = true;
      for (const waiter of [...waiters]) settle(waiter, waiter.since);
    },
  };
}

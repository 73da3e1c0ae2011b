/** Gives back something that was opened. */
export type Closer = () => void | Promise<void>;

/** What is open, in the order it was opened. */
export interface Lifecycle {
  /** Notes how to close what was just opened, and hands it back. */
  own<T>(opened: T, close: (opened: T) => void | Promise<void>): T;
  /** Closes everything, last opened first; every closer runs, then the first failure is thrown. */
  close(): Promise<void>;
}

/**
 * A stack of closers: whatever opens pushes its close, and shutdown unwinds in reverse. Closing twice
 * waits for the first; what is owned after closing began is closed at once.
 */
export function createLifecycle(): Lifecycle {
  const closers: Closer[] = [];
  let closing: Promise<void> | undefined;
  const unwind = async () => {
    const failures: unknown[] = [];
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
      try {
        await closer();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, 'several parts did not close');
  };
  return {
    own(opened, close) {
      closers.push(() => close(opened));
      if (closing !== undefined) closing = closing.then(unwind);
      return opened;
    },
    close() {
      closing ??= unwind();
      return closing;
    },
  };
}

import type { RootDatabase } from 'lmdb';

interface Waiting {
  readonly body: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly thrown: unknown };

/**
 * Runs write transactions one group at a time: what is asked for while a group is being written forms
 * the next one, so many callers share a commit and a flush. Each body is atomic by itself: one that
 * throws is rolled back, and the others of its group stand. (An error thrown in a plain transaction
 * does not roll it back; in a nested one it does.)
 *
 * @param hooks.before may refuse a group before it is written
 * @param hooks.asError the error for a group that could not be written
 * @returns a function that resolves when its body's writes are durable
 */
export function groupCommit(
  env: RootDatabase,
  hooks: { before(): void; asError(cause: unknown): Error },
): <T>(body: () => T) => Promise<T> {
  const queue: Waiting[] = [];
  let busy = false;

  const runGroup = async (group: readonly Waiting[]) => {
    const outcomes: Outcome[] = [];
    try {
      hooks.before();
    } catch (refusal) {
      for (const { reject } of group) reject(refusal);
      return;
    }
    try {
      await env.transaction(() => {
        for (const { body } of group) outcomes.push(attempt(env, body));
      });
      await env.flushed;
    } catch (cause) {
      const error = hooks.asError(await reasonOf(cause));
      for (const { reject } of group) reject(error);
      return;
    }
    group.forEach(({ resolve, reject }, i) => {
      const outcome = outcomes[i];
      if (outcome !== undefined && 'value' in outcome) resolve(outcome.value);
      else reject(outcome?.thrown);
    });
  };
  const run = async () => {
    busy = true;
    while (queue.length > 0) await runGroup(queue.splice(0));
    busy = false;
  };
  return <T>(body: () => T) =>
    new Promise<T>((resolve, reject) => {
      queue.push({ body, resolve: resolve as (value: unknown) => void, reject });
      if (queue.length === 1 && !busy) queueMicrotask(() => void run());
    });
}

function attempt(env: RootDatabase, body: () => unknown): Outcome {
  try {
    return { value: env.childTransaction(body) };
  } catch (thrown) {
    return { thrown };
  }
}

/** A failed commit names its reason in a promise of its own. */
async function reasonOf(cause: unknown): Promise<unknown> {
  const detail = (cause as { commitError?: Promise<unknown> } | null)?.commitError;
  if (detail === undefined) return cause;
  return Promise.resolve(detail).then(
    () => cause,
    (reason) => reason,
  );
}

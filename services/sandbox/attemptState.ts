import type { EspalierEvent, RolloutRequested } from '../../schemas/generated/events.ts';

/** One attempt that was asked for and has not ended. */
export interface OpenAttempt {
  readonly request: RolloutRequested;
  /** Whether the log says that it was started, by this process or by one before it. */
  started: boolean;
}

/** Which attempts there are to run: a fold of requests and rollout events. */
export interface Attempts {
  fold(event: EspalierEvent): void;
  /** Forgets an attempt that this process is done with, before its end event comes back from the log. */
  finish(request: RolloutRequested): void;
  /** Attempts without an end, in the order they were asked for. */
  open(): readonly OpenAttempt[];
}

/** Topics may be read in any order: an end that is read before its request still ends it. */
export function createAttempts(): Attempts {
  const open = new Map<string, OpenAttempt>();
  const started = new Set<string>();
  const over = new Set<string>();
  const idOf = (event: { readonly rolloutId: string; readonly attempt: number }) =>
    `${event.rolloutId}/${event.attempt}`;
  return {
    fold(event) {
      switch (event.type) {
        case 'RolloutRequested': {
          const id = idOf(event);
          if (over.has(id) || over.has(event.rolloutId) || open.has(id)) return;
          open.set(id, { request: event, started: started.has(id) });
          return;
        }
        case 'RolloutStarted': {
          const attempt = open.get(idOf(event));
          if (attempt === undefined) started.add(idOf(event));
          else attempt.started = true;
          return;
        }
        case 'RolloutEnded':
          over.add(idOf(event));
          open.delete(idOf(event));
          return;
        case 'RolloutSettled':
          over.add(event.rolloutId);
          for (const [id, attempt] of open)
            if (attempt.request.rolloutId === event.rolloutId) open.delete(id);
          return;
      }
    },
    finish(request) {
      over.add(idOf(request));
      open.delete(idOf(request));
    },
    open: () => [...open.values()],
  };
}

import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { follow } from '../../infra/log/follow.ts';
import { reapLeases } from '../../infra/process/sandbox/leases.ts';
import type { RolloutRequested } from '../../schemas/generated/events.ts';
import { createAttempts } from './attemptState.ts';
import { failAttempt, runAttempt, type SandboxContext } from './runAttempt.ts';

/** A sandbox service at work. */
export interface Sandbox {
  /** Stops every harness; their attempts stay open in the log and are failed by the next start. */
  close(): Promise<void>;
}

/**
 * Runs the attempts of one run that the log asks for, `concurrency` at a time. Attempts that a
 * previous process had started are failed first: their harness is dead, and a retry is the
 * dispatcher's to decide.
 */
export async function startSandbox(
  context: SandboxContext & {
    readonly runId: string;
    readonly concurrency: number;
    readonly logger: Logger;
    readonly onFatal: (error: unknown) => void;
  },
): Promise<Sandbox> {
  const { log, runId, concurrency, logger, onFatal } = context;
  await mkdir(context.dirs.work, { recursive: true });
  await reapLeases(context.dirs.leases);
  const stop = new AbortController();
  const attempts = createAttempts();
  const running = new Map<RolloutRequested, Promise<void>>();

  const launch = (request: RolloutRequested, work: Promise<void>): void => {
    const done = work
      .catch((error) => {
        if (!stop.signal.aborted) onFatal(error);
      })
      .finally(() => {
        running.delete(request);
        attempts.finish(request);
        fill();
      });
    running.set(request, done);
  };
  const fill = (): void => {
    for (const { request, started } of attempts.open()) {
      if (running.size >= concurrency || stop.signal.aborted) return;
      if (running.has(request)) continue;
      if (started) {
        logger.warn(
          { rolloutId: request.rolloutId, attempt: request.attempt },
          'attempt was cut off by a restart',
        );
        launch(request, failAttempt(context, request, 'the sandbox service restarted'));
      } else {
        launch(request, runAttempt(context, request, stop.signal));
      }
    }
  };
  const loop = follow({
    log,
    topics: ['rollouts', 'rollout-requests'],
    signal: stop.signal,
    onEvents: (events) => {
      for (const event of events) {
        if (!('runId' in event) || event.runId !== runId) continue;
        // What this process runs it knows better than the log: its own start is no sign of a restart.
        if (event.type === 'RolloutStarted' && [...running.keys()].some((r) => isSame(r, event))) continue;
        attempts.fold(event);
      }
    },
    onCaughtUp: fill,
  });
  loop.catch(onFatal);
  return {
    close: async () => {
      stop.abort();
      await Promise.allSettled([loop, ...running.values()]);
    },
  };
}

function isSame(
  request: RolloutRequested,
  event: { readonly rolloutId: string; readonly attempt: number },
): boolean {
  return request.rolloutId === event.rolloutId && request.attempt === event.attempt;
}

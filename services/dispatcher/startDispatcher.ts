import type { EventLog } from '../../infra/log/eventLog.ts';
import { follow } from '../../infra/log/follow.ts';
import type { EspalierEvent } from '../../schemas/generated/events.ts';
import { TOPICS, type Topic } from '../../schemas/topics.ts';
import type { Decide } from './decide.ts';
import { emptyRunState, foldRun, type RunState } from './runState.ts';

const READS: readonly Topic[] = [
  'rollout-requests',
  'rollouts',
  'rewards',
  'scored-groups',
  'training-batches',
  'verdicts',
];

/** A dispatcher at work. */
export interface Dispatcher {
  /** Resolves with the final state when the run has ended. */
  readonly finished: Promise<RunState>;
  close(): Promise<void>;
}

/**
 * Runs one run to its end: folds its events, decides, appends, and folds what it appended. All its
 * state is in the log, so a restart goes on where the log stands.
 */
export function startDispatcher(options: {
  readonly log: EventLog;
  readonly runId: string;
  readonly decide: Decide;
  readonly now: () => number;
  /** Called with the state after each change, for progress. */
  readonly onChange?: (state: RunState) => void;
}): Dispatcher {
  const { log, runId, decide, now, onChange } = options;
  const stop = new AbortController();
  const state = emptyRunState();
  const fold = (event: EspalierEvent): void => {
    if ('runId' in event && event.runId === runId) foldRun(state, event);
  };
  let finish: (state: RunState) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const finished = new Promise<RunState>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const loop = follow({
    log,
    topics: READS,
    signal: stop.signal,
    onEvents: (events) => events.forEach(fold),
    onCaughtUp: async () => {
      for (const events of decide(state, now())) {
        await log.append(events.map((event) => ({ topic: topicOf(event), event })));
        events.forEach(fold);
      }
      onChange?.(state);
      if (state.ended) finish(state);
    },
  });
  loop.catch(fail);
  return {
    finished,
    close: async () => {
      stop.abort();
      await loop.catch(() => {});
    },
  };
}

function topicOf(event: EspalierEvent): Topic {
  const found = Object.entries(TOPICS).find(([, spec]) =>
    (spec.carries as readonly string[]).includes(event.type),
  );
  return found![0] as Topic;
}

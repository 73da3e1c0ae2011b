import { Observable, type OperatorFunction } from 'rxjs';

/** What a stage answers to one event: its next state, or that the key is finished, and what it emits. */
export type Step<State, Out> =
  | { readonly state: State; readonly out: readonly Out[] }
  | { readonly done: true; readonly out: readonly Out[] };

/**
 * A pure keyed step of the pipeline: no clock, no randomness, no I/O. The same events of a key give the
 * same outputs. A stage owns the state it is handed and may grow it in place, so the work of a step is
 * proportional to its event; nobody else keeps a reference to it.
 */
export interface Stage<Event, State, Out> {
  readonly name: string;
  key(event: Event): string;
  /** State of a key before its first event. */
  init(key: string): State;
  step(state: State, event: Event): Step<State, Out>;
}

/** Feeds one event to a stage and returns what it emits; a finished key leaves nothing in `states`. */
export function feed<Event, State, Out>(
  stage: Stage<Event, State, Out>,
  states: Map<string, State>,
  event: Event,
): readonly Out[] {
  const key = stage.key(event);
  const step = stage.step(states.get(key) ?? stage.init(key), event);
  if ('done' in step) states.delete(key);
  else states.set(key, step.state);
  return step.out;
}

/**
 * Lifts a stage into RxJS. It is a keyed map that evicts: `groupBy` keeps a Subject per key for as long as
 * the source lives. Pass `states` to carry open keys from one bounded batch of events to the next.
 */
export function through<Event, State, Out>(
  stage: Stage<Event, State, Out>,
  states: Map<string, State> = new Map(),
): OperatorFunction<Event, Out> {
  return (source) =>
    new Observable<Out>((subscriber) =>
      source.subscribe({
        next: (event) => {
          try {
            for (const out of feed(stage, states, event)) subscriber.next(out);
          } catch (error) {
            subscriber.error(error);
          }
        },
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
}

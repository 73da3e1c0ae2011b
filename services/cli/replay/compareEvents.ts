import type { Codec } from '../../../schemas/codec.ts';
import type { EventJson } from '../../../schemas/eventJson.ts';
import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import { firstDifference } from './firstDifference.ts';

/** A record that a replay does not reproduce. */
export interface Difference {
  readonly event: string;
  readonly what: string;
}

/** What comparing two series of events found. */
export interface Comparison {
  readonly equal: number;
  readonly differences: readonly Difference[];
}

/** Compares events by the bytes of their Avro bodies. */
export interface EventComparer {
  /** Any order: events with the same name are matched by their bodies. */
  unordered(recorded: readonly EspalierEvent[], replayed: readonly EspalierEvent[]): Comparison;
  /** In order. Replayed events beyond the recorded ones are no difference: they were not emitted yet. */
  ordered(recorded: readonly EspalierEvent[], replayed: readonly EspalierEvent[]): Comparison;
}

/** A comparer over the current schemas; records of older ones were resolved to them when read. */
export function eventComparer(codec: Codec, json: EventJson): EventComparer {
  const bodyOf = (event: EspalierEvent): string => Buffer.from(codec.encode(event)).toString('latin1');
  const describe = (recorded: EspalierEvent, replayed: EspalierEvent): Difference => ({
    event: nameOf(recorded),
    what:
      firstDifference(JSON.parse(json.write(recorded)), JSON.parse(json.write(replayed))) ??
      'the bodies differ in bytes only',
  });
  return {
    unordered(recorded, replayed) {
      const differences: Difference[] = [];
      let equal = 0;
      const byName = new Map<string, { readonly before: EspalierEvent[]; readonly after: EspalierEvent[] }>();
      const entry = (event: EspalierEvent) => {
        const name = nameOf(event);
        const found = byName.get(name) ?? { before: [], after: [] };
        byName.set(name, found);
        return found;
      };
      for (const event of recorded) entry(event).before.push(event);
      for (const event of replayed) entry(event).after.push(event);
      for (const [name, { before, after }] of byName) {
        const left = new Map<string, EspalierEvent[]>();
        for (const event of after) left.set(bodyOf(event), [...(left.get(bodyOf(event)) ?? []), event]);
        const unmatched = before.filter((event) => {
          if (left.get(bodyOf(event))?.pop() === undefined) return true;
          equal++;
          return false;
        });
        const rest = [...left.values()].flat();
        for (const event of unmatched) {
          const other = rest.pop();
          const what =
            before.length > after.length ? 'is on record more often than it is replayed' : 'is not replayed';
          differences.push(other === undefined ? { event: name, what } : describe(event, other));
        }
        for (const _ of rest) differences.push({ event: name, what: 'is replayed and not on record' });
      }
      return { equal, differences };
    },
    ordered(recorded, replayed) {
      const differences: Difference[] = [];
      let equal = 0;
      recorded.forEach((event, i) => {
        const other = replayed[i];
        if (other === undefined) differences.push({ event: nameOf(event), what: 'is not replayed' });
        else if (event.type === other.type && bodyOf(event) === bodyOf(other)) equal++;
        else differences.push(describe(event, other));
      });
      return { equal, differences };
    },
  };
}

/** Names an event for people, and matches a recorded one with its replay. */
export function nameOf(event: EspalierEvent): string {
  const parts: string[] = [event.type];
  if ('batchId' in event) parts.push(`batch ${event.batchId}`);
  if ('groupId' in event && event.type !== 'TrainingSample') parts.push(`group ${event.groupId}`);
  if ('rolloutId' in event) parts.push(`rollout ${event.rolloutId}`);
  if ('attempt' in event && event.attempt !== null) parts.push(`attempt ${event.attempt}`);
  return parts.join(' ');
}

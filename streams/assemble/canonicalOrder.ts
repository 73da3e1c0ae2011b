import { digestTokens } from '../../schemas/digest.ts';
import type { EspalierEvent } from '../../schemas/generated/events.ts';

type Key = readonly (string | number)[];

/**
 * Events in an order that follows from what they say, so that the first of two contradicting records is the
 * same one whatever line it stood on. Policies are ordered by time, then by the batch they were trained
 * through, then by version, numbers in versions compared as numbers.
 */
export function inCanonicalOrder(events: readonly EspalierEvent[]): readonly EspalierEvent[] {
  return events
    .map((event) => ({ event, key: keyOf(event) }))
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ event }) => event);
}

function keyOf(event: EspalierEvent): Key {
  const { type } = event;
  if (type === 'PolicyPublished')
    return [type, event.at, event.trainedThroughBatch ?? -1, ...versionKey(event.version)];
  const group = 'groupId' in event ? event.groupId : '';
  const rollout = 'rolloutId' in event ? event.rolloutId : '';
  const attempt = 'attempt' in event ? (event.attempt ?? -1) : -1;
  const at = 'at' in event ? event.at : 0;
  if (type !== 'ModelCalled') return [group, type, rollout, attempt, at, JSON.stringify(event)];
  const { seq, callId, envTokenIds, sampledTokenIds } = event;
  return [
    group,
    type,
    rollout,
    attempt,
    seq,
    callId,
    digestTokens(envTokenIds),
    digestTokens(sampledTokenIds),
  ];
}

function versionKey(version: string): Key {
  return version.split(/(\d+)/u).map((part, i) => (i % 2 === 1 ? Number(part) : part));
}

function compareKeys(a: Key, b: Key): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] as string | number, b[i] as string | number];
    if (x !== y) return x < y ? -1 : 1;
  }
  return a.length - b.length;
}

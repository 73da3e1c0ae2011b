import type { AttemptState, GroupState } from './groupState.ts';

/** Ids of all calls of an attempt that are in, sorted. */
export function attemptCallIds({ tree, failed, unreadable }: AttemptState): readonly string[] {
  return [...tree.nodes.keys(), ...tree.waitingIds, ...failed.keys(), ...unreadable].sort();
}

/** Ids of all calls of a group that are in, sorted: what its marker remembers. */
export function receivedCallIds(group: GroupState): readonly string[] {
  return [...group.rollouts.values()]
    .flatMap(({ attempts }) => [...attempts.values()].flatMap(attemptCallIds))
    .sort();
}

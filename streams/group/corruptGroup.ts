import type {
  GroupClosed,
  ModelCalled,
  ModelCallFailed,
  TreeJudged,
} from '../../schemas/generated/events.ts';
import type { GroupOutput, GroupState } from './groupState.ts';
import { attemptCallIds, receivedCallIds } from './receivedCallIds.ts';

/**
 * Closes a group of which some record cannot even be told what it was: it may have been the very one that
 * the group waits for, so nothing is waited for. Every call gets the same verdict whether it came before the
 * damaged record or after it.
 */
export function corruptGroup(group: GroupState): readonly GroupOutput[] {
  const { runId, groupId } = group;
  const judged = [...group.rollouts.values()]
    .sort((a, b) => (a.rolloutId < b.rolloutId ? -1 : 1))
    .flatMap(({ rolloutId, attempts }) =>
      [...attempts]
        .sort(([a], [b]) => a - b)
        .map(([attempt, state]) =>
          wentWithRollout({ runId, groupId, rolloutId, attempt }, attemptCallIds(state), 'rollout'),
        ),
    )
    .filter(({ verdicts }) => verdicts.length > 0);
  return [
    ...judged,
    {
      type: 'GroupDropped',
      runId,
      groupId,
      reason: 'corrupt',
      detail: 'a record of the group could not be read',
    },
    { type: 'GroupClosed', runId, groupId, outcome: 'corrupt', callIds: receivedCallIds(group) },
  ];
}

/** The verdict on a call that arrives after its group closed; null when it was there already. */
export function judgeLateCall(call: ModelCalled | ModelCallFailed, marker: GroupClosed): TreeJudged | null {
  if (marker.callIds.includes(call.callId)) return null;
  const { runId, groupId, rolloutId, attempt, callId } = call;
  const reason = marker.outcome === 'corrupt' ? 'rollout' : 'late';
  return wentWithRollout({ runId, groupId, rolloutId, attempt }, [callId], reason);
}

function wentWithRollout(
  ids: { runId: string; groupId: string; rolloutId: string; attempt: number },
  callIds: readonly string[],
  reason: string,
): TreeJudged {
  const verdicts = callIds.map((callId) => ({ callId, kind: 'main', verdict: 'dropped', reason }));
  return { type: 'TreeJudged', ...ids, segments: 0, leaves: 0, verdicts, diagnostic: null };
}

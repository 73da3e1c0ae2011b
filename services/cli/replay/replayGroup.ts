import type { GroupClosed } from '../../../schemas/generated/events.ts';
import { closeGroup } from '../../../streams/group/closeGroup.ts';
import { judgeLateCall } from '../../../streams/group/corruptGroup.ts';
import type { GroupEvent, GroupOutput, GroupState } from '../../../streams/group/groupState.ts';
import type { PipelineConfig, PolicyVersions } from '../../../streams/pipelineConfig.ts';
import { feed } from '../../../streams/stage.ts';
import type { RecordedGroup } from './recordedGroups.ts';

/**
 * The first hop over the events of one group. Its first marker says which calls were in when the
 * group closed: those are fed before anything else, the others are judged as what they were, late.
 * @returns what the closing of the group emits; nothing where it does not close
 */
export function replayGroup(
  { events, markers }: RecordedGroup,
  config: PipelineConfig,
  versions: PolicyVersions,
): readonly GroupOutput[] {
  const [marker] = markers;
  const inTime = marker === undefined ? null : new Set(marker.callIds);
  const isCall = (event: GroupEvent): boolean => 'callId' in event;
  const calls = events.filter(({ event }) => 'callId' in event && (inTime?.has(event.callId) ?? true));
  const others = events.filter(({ event }) => !isCall(event)).sort((a, b) => a.timestamp - b.timestamp);
  const stage = closeGroup(
    () => config,
    () => versions,
  );
  const states = new Map<string, GroupState>();
  for (const { event } of [...calls, ...others]) {
    const out = feed(stage, states, event);
    if (out.length > 0) return [...out, ...lateOutputs(events, out.at(-1), markers)];
  }
  return [];
}

/** A late call leaves its verdict and a marker that knows it; the markers on record say in which order. */
function lateOutputs(
  events: RecordedGroup['events'],
  closed: GroupOutput | undefined,
  markers: readonly GroupClosed[],
): readonly GroupOutput[] {
  const out: GroupOutput[] = [];
  let marker = closed?.type === 'GroupClosed' ? closed : undefined;
  for (const next of markers.slice(1)) {
    const known = new Set(marker?.callIds);
    const callId = next.callIds.find((id) => !known.has(id));
    const late = events.find(({ event }) => 'callId' in event && event.callId === callId)?.event;
    if (marker === undefined || (late?.type !== 'ModelCalled' && late?.type !== 'ModelCallFailed')) break;
    const verdict = judgeLateCall(late, marker);
    if (verdict === null) break;
    marker = { ...marker, callIds: [...marker.callIds, late.callId].sort() };
    out.push(verdict, marker);
  }
  return out;
}

import type { ConfigOf, PolicyVersions } from '../pipelineConfig.ts';
import type { Stage } from '../stage.ts';
import { canClose } from './canClose.ts';
import { concludeGroup } from './concludeGroup.ts';
import { absorb, emptyGroup, type GroupEvent, type GroupOutput, type GroupState } from './groupState.ts';

/**
 * First hop, keyed by group: grows the trees of its rollouts, and once the group is complete judges them,
 * joins the rewards, scores the group and forgets it. Nothing leaves before; then everything at once, the
 * marker last, in an order that does not depend on how the events arrived. Events of a group that has its
 * marker must not be fed again; `judgeLateCall` answers a call that comes after it.
 *
 * @param versions which policy versions calls may name
 */
export function closeGroup(
  configOf: ConfigOf,
  versions: (runId: string) => PolicyVersions = () => 'ignored',
): Stage<GroupEvent, GroupState, GroupOutput> {
  return {
    name: 'closeGroup',
    key: (event) => event.groupId,
    init: emptyGroup,
    step(group, event) {
      absorb(group, event);
      if (!canClose(group)) return { state: group, out: [] };
      return { done: true, out: concludeGroup(group, configOf(group.runId), versions(group.runId)) };
    },
  };
}

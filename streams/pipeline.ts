/**
 * The whole data path of Espalier as a list of pure, keyed stages, in order. Read it top to bottom; every
 * name below is a file of that name.
 *
 *   model-calls, rollouts, rewards, rollout-requests                       key: groupId
 *     closeGroup      collects a group's events in any order until it is complete, then
 *       evolve          grows the prefix tree of each attempt, call by call, token for token
 *       finishTree      hangs calls that carry their full input on the longest history they extend
 *       judge           classify > keepPaths: a verdict on every call, and the paths worth training
 *       pruneTree       what is left of the tree: the sample
 *       scoreGroup      rewards of the rollouts to advantages, or the reason why not
 *   scored-groups                                                          key: runId
 *     cutBatch        groups to batches: staleness, back-pressure, seeded shuffle, manifest
 *   training-batches
 *     linearize       sample to rows of tokens, loss masks and weights, at the trainer
 */
import { type BatchOutput, cutBatch } from './batch/cutBatch.ts';
import type { RunRecord, RunState } from './batch/runState.ts';
import { closeGroup } from './group/closeGroup.ts';
import type { GroupEvent, GroupOutput, GroupState } from './group/groupState.ts';
import type { ConfigOf, PolicyVersions } from './pipelineConfig.ts';
import type { Stage } from './stage.ts';

/** The stages in order. The log lies between them, because the key changes from group to run. */
export type Pipeline = readonly [
  firstHop: Stage<GroupEvent, GroupState, GroupOutput>,
  secondHop: Stage<RunRecord, RunState, BatchOutput>,
];

/** Builds the pipeline over the configurations of runs. */
export function pipeline(configOf: ConfigOf, versions?: (runId: string) => PolicyVersions): Pipeline {
  return [closeGroup(configOf, versions), cutBatch(configOf)];
}

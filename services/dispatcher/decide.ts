import type { EspalierEvent } from '../../schemas/generated/events.ts';
import { rolloutIdOf } from '../../schemas/ids.ts';
import type { RunConfig } from '../../schemas/runConfig.ts';
import { evaluationGroups, type PlannedGroup, type TaskSet, trainingGroup } from './runPlan.ts';
import type { RunState } from './runState.ts';
import { settle } from './settle.ts';

/** What a decision rests on beside the state. */
export interface RunPlan {
  readonly runId: string;
  readonly config: RunConfig;
  readonly tasks: TaskSet;
}

/** Says what comes next, from the state alone; each inner list is one atomic append. */
export type Decide = (state: RunState, now: number) => readonly (readonly EspalierEvent[])[];

/**
 * The next things to say in a training run: settlements and retries first, then new
 * groups as far as the off-policy window allows, evaluations before and after training, the end.
 */
export function decide(plan: RunPlan, state: RunState, now: number): readonly (readonly EspalierEvent[])[] {
  const { config } = plan;
  if (state.ended) return [];
  const settlements = settleAll(state, config.maxAttempts, now);
  if (settlements.length > 0 || !state.configured || state.trainedThroughBatch === undefined)
    return settlements;

  // Training begins when the first evaluation is over, so once it has begun there is nothing to look up.
  if (state.trainingGroups.size === 0) {
    const before = askForEvaluation(plan, state, 0, now);
    if (before.length > 0) return before;
    if (!evaluationFinished(plan, state, 0)) return [];
  }

  const steps = state.trainedThroughBatch + 1;
  if (steps < config.steps) return askForTraining(plan, state, steps, now);

  if ([...state.open.values()].some((r) => r.request.purpose === 'train')) return [];
  const after = askForEvaluation(plan, state, config.steps, now);
  if (after.length > 0) return after;
  if (!evaluationFinished(plan, state, config.steps)) return [];
  return [[{ type: 'RunEnded', runId: plan.runId, reason: 'completed', at: now }]];
}

/**
 * A run of one group and nothing else: it is asked for, settled, and over once it is in a batch or
 * dropped. For trying a task or a harness.
 */
export function decideOneGroup(
  plan: RunPlan,
  group: PlannedGroup,
  state: RunState,
  now: number,
): readonly (readonly EspalierEvent[])[] {
  if (state.ended || !state.configured) return [];
  const settlements = settleAll(state, plan.config.maxAttempts, now);
  if (settlements.length > 0) return settlements;
  if (!state.requestedGroups.has(group.groupId)) return [requestsOf(plan, group, 0, now)];
  const over = state.droppedTrainingGroups.has(group.groupId) || state.groupsOfBatch.has(0);
  return over ? [[{ type: 'RunEnded', runId: plan.runId, reason: 'completed', at: now }]] : [];
}

function settleAll(state: RunState, maxAttempts: number, now: number): readonly (readonly EspalierEvent[])[] {
  return [...state.open.values()]
    .map((rollout) => settle(rollout, maxAttempts, now))
    .filter((events) => events.length > 0);
}

/**
 * New training groups. The window counts groups: requested - dropped - trained stays within
 * (maxOffPolicySteps + 1) x groupsPerBatch, and what was dropped is asked for again; nothing beyond
 * what the last step needs is begun.
 */
function askForTraining(
  plan: RunPlan,
  state: RunState,
  steps: number,
  now: number,
): readonly (readonly EspalierEvent[])[] {
  const { config, runId, tasks } = plan;
  let requested = state.trainingGroups.size;
  const dropped = state.droppedTrainingGroups.size;
  let trained = 0;
  for (let batch = 0; batch < steps; batch++) trained += state.groupsOfBatch.get(batch) ?? 0;
  const window = (config.maxOffPolicySteps + 1) * config.groupsPerBatch;
  const needed = config.steps * config.groupsPerBatch;
  const wanted: PlannedGroup[] = [];
  while (requested - dropped - trained < window && requested - dropped < needed) {
    wanted.push(trainingGroup(runId, config, tasks, requested++));
  }
  return wanted.map((group) => requestsOf(plan, group, steps, now));
}

function askForEvaluation(
  plan: RunPlan,
  state: RunState,
  step: number,
  now: number,
): readonly (readonly EspalierEvent[])[] {
  return evaluationGroups(plan.runId, plan.config, plan.tasks, step)
    .filter((group) => !state.requestedGroups.has(group.groupId))
    .map((group) => requestsOf(plan, group, step, now));
}

function evaluationFinished(plan: RunPlan, state: RunState, step: number): boolean {
  return evaluationGroups(plan.runId, plan.config, plan.tasks, step).every((group) =>
    state.settled.has(rolloutIdOf(group.groupId, 0)),
  );
}

function requestsOf(plan: RunPlan, group: PlannedGroup, step: number, now: number): readonly EspalierEvent[] {
  return Array.from({ length: group.groupSize }, (_, index) => ({
    type: 'RolloutRequested' as const,
    runId: plan.runId,
    groupId: group.groupId,
    rolloutId: rolloutIdOf(group.groupId, index),
    taskId: group.task.taskId,
    harness: group.harness,
    groupSize: group.groupSize,
    index,
    attempt: 0,
    instruction: group.task.instruction,
    purpose: group.purpose,
    step,
    pinnedVersion: null,
    task: group.task.archive,
    at: now,
  }));
}

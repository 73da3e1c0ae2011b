import type { BlobRef } from '../../schemas/generated/events.ts';
import { groupIdOf } from '../../schemas/ids.ts';
import type { RunConfig } from '../../schemas/runConfig.ts';

/** A task a run can ask for. */
export interface PlannedTask {
  readonly taskId: string;
  readonly instruction: string;
  readonly archive: BlobRef;
}

/** The tasks of a run: one list to train on, one held out. */
export interface TaskSet {
  readonly train: readonly PlannedTask[];
  readonly heldOut: readonly PlannedTask[];
}

/** A group that the plan asks for. */
export interface PlannedGroup {
  readonly groupId: string;
  readonly task: PlannedTask;
  readonly harness: string;
  readonly groupSize: number;
  readonly purpose: 'train' | 'eval';
}

/**
 * The `sequence`-th training group (from 0). Harnesses alternate task by task, so every batch mixes
 * them and no group does; tasks repeat when the set is used up.
 */
export function trainingGroup(
  runId: string,
  config: RunConfig,
  tasks: TaskSet,
  sequence: number,
): PlannedGroup {
  const harness = config.harnesses[sequence % config.harnesses.length]!;
  const task = tasks.train[sequence % tasks.train.length]!;
  return {
    groupId: groupIdOf(runId, sequence, task.taskId, harness),
    task,
    harness,
    groupSize: config.groupSize,
    purpose: 'train',
  };
}

/** The groups of one evaluation: one rollout for each held-out task, harnesses in turn. */
export function evaluationGroups(
  runId: string,
  config: RunConfig,
  tasks: TaskSet,
  step: number,
): readonly PlannedGroup[] {
  return tasks.heldOut.slice(0, config.evaluationTasks).map((task, index) => {
    const harness = config.harnesses[index % config.harnesses.length]!;
    return {
      // Sequence numbers below zero keep evaluations apart from training groups.
      groupId: groupIdOf(runId, -1 - (step * config.evaluationTasks + index), task.taskId, harness),
      task,
      harness,
      groupSize: 1,
      purpose: 'eval',
    };
  });
}

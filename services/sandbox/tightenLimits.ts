import type { ContainmentLimits } from '../../infra/process/sandbox/containment.ts';
import type { TaskLimits } from '../../infra/process/task/task.ts';

/** The run's limits, made stricter where the task asks for less; a task cannot loosen them. */
export function tightenLimits(run: ContainmentLimits, task: TaskLimits): ContainmentLimits {
  const least = (one: number | undefined, other: number | undefined): number | undefined =>
    one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
  const memoryMb = least(run.memoryMb, task.memoryMb);
  const processes = least(run.processes, task.processes);
  const diskMb = least(run.diskMb, task.diskMb);
  return {
    wallMs: Math.min(run.wallMs, (task.wallSeconds ?? Number.POSITIVE_INFINITY) * 1_000),
    ...(run.graceMs === undefined ? {} : { graceMs: run.graceMs }),
    ...(memoryMb === undefined ? {} : { memoryMb }),
    ...(processes === undefined ? {} : { processes }),
    ...(diskMb === undefined ? {} : { diskMb }),
  };
}

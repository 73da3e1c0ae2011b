import type { Task } from '../../infra/process/task/task.ts';
import { type GradingPlace, gradeOnce } from './gradeOnce.ts';

export interface VerifyOptions extends GradingPlace {
  readonly task: Task;
  /** Final workspace as packDirectory wrote it; null when it could not be packed (too large). */
  readonly workspaceArchive: Uint8Array | null;
  /** Reward when the agent's files broke the grader. Default 0. */
  readonly graderFailureReward?: number;
}

export type Verification =
  | {
      readonly kind: 'reward';
      /** From 0 to 1. */
      readonly reward: number;
      readonly criteria: Readonly<Record<string, number>> | null;
      /** Whether the reward reaches the task's pass mark. */
      readonly passed: boolean;
      /** Why this reward was not given by the grader; null when it was. */
      readonly flagged: string | null;
    }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * The reward of a final workspace. A grader that fails is run once more in a fresh place. When it fails again but can
 * grade the untouched workspace, the agent's files broke it: the reward is `graderFailureReward`, flagged, else an
 * agent could censor its own failures. When it fails there too, the task is broken and there is no reward.
 * @throws EspalierError E_SANDBOX_START, E_WORKSPACE (damaged archive) or E_INTERRUPTED: try again later
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const { task, workspaceArchive } = options;
  let reason = 'the final workspace could not be packed';
  for (let tries = 0; workspaceArchive !== null && tries < 2; tries += 1) {
    const report = await gradeOnce(task, { archive: workspaceArchive }, options);
    if (report.ok) return give(task, report.reward, report.criteria, null);
    reason = report.reason;
  }
  const untouched = await gradeOnce(task, { folder: task.workspace }, options);
  if (untouched.ok) return give(task, options.graderFailureReward ?? 0, null, `grader failed: ${reason}`);
  return { kind: 'failed', reason: `${reason}; on the untouched workspace: ${untouched.reason}` };
}

function give(
  task: Task,
  reward: number,
  criteria: Readonly<Record<string, number>> | null,
  flagged: string | null,
): Verification {
  return { kind: 'reward', reward, criteria, passed: reward >= task.verifier.pass, flagged };
}

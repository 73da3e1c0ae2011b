import type { Blobs } from '../../../infra/blobs/blobs.ts';
import { loadTask } from '../../../infra/process/task/loadTask.ts';
import { packTask } from '../../../infra/process/task/packTask.ts';
import type { PlannedTask } from '../../dispatcher/runPlan.ts';

/**
 * Checks task folders and stores each as one archive, so that a rollout carries its task with it.
 * @throws EspalierError E_TASK_MISSING, E_TASK_INVALID
 */
export async function storeTasks(blobs: Blobs, folders: readonly string[]): Promise<readonly PlannedTask[]> {
  const tasks: PlannedTask[] = [];
  for (const folder of folders) {
    const task = loadTask(folder);
    const archive = await blobs.put(await packTask(task));
    tasks.push({ taskId: task.id, instruction: task.instruction, archive });
  }
  return tasks;
}

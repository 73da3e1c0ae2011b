import { join } from 'node:path';
import type { Blobs } from '../../../infra/blobs/blobs.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import type { TaskSet } from '../../dispatcher/runPlan.ts';
import { storeTasks } from '../run/storeTasks.ts';
import { demoTasks, writeDemoTask } from './demoTasks.ts';

const TRAINING_TASKS = 256;
/** Keeps held-out tasks apart from training tasks for every seed. */
const HELD_OUT_SEED = 1_000_003;

/** Writes the demo's tasks under the data folder, where they can be read, and stores them for the run. */
export async function storeDemoTasks(dataDir: string, blobs: Blobs, config: RunConfig): Promise<TaskSet> {
  const parent = join(dataDir, 'tasks', `seed-${config.seed}`);
  const store = async (seed: number, count: number, prefix: string) => {
    const folders: string[] = [];
    for (const task of demoTasks(seed, count, prefix)) folders.push(await writeDemoTask(parent, task));
    return storeTasks(blobs, folders);
  };
  return {
    train: await store(config.seed, TRAINING_TASKS, 'train'),
    heldOut: await store(HELD_OUT_SEED + config.seed, config.evaluationTasks, 'heldout'),
  };
}

import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkDataFolder as checkVersion } from '../../../infra/process/dataFolder.ts';
import { findOwner } from '../../../infra/process/ownerFile.ts';
import { ERRORS, EspalierError } from '../../../schemas/errors.ts';
import type { CheckResult } from './check.ts';

const GIB = 1024 ** 3;

/** The nearest folder on the way up that exists: a data folder is made on first use. */
async function existingFolder(path: string): Promise<string> {
  try {
    await access(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? path : existingFolder(parent);
  }
}

/** Free space where the data folder is or would be. */
export async function checkDisk(dataDir: string): Promise<CheckResult> {
  const folder = await existingFolder(dataDir);
  const { bavail, bsize } = await statfs(folder);
  const free = (bavail * bsize) / GIB;
  const detail = `${free.toFixed(1)} GiB free at ${folder}`;
  if (free >= 1) return { name: 'disk', state: 'ok', detail };
  return { name: 'disk', state: 'limited', detail, fix: 'Free some space, or use another --data-dir.' };
}

/** Whether the data folder can be used, and who owns it. */
export async function checkDataFolder(dataDir: string): Promise<CheckResult> {
  const name = 'data folder';
  const folder = await existingFolder(dataDir);
  try {
    await access(folder, constants.W_OK);
    checkVersion(dataDir);
  } catch (error) {
    if (error instanceof EspalierError)
      return { name, state: 'missing', detail: error.message, fix: error.fix };
    const fix = ERRORS.E_DATA_DIR_WRITE.fix;
    return { name, state: 'missing', detail: `${folder} cannot be written`, fix };
  }
  if (folder !== dataDir) return { name, state: 'ok', detail: `${dataDir} will be made on first use` };
  const owner = findOwner(dataDir);
  const use = owner === null ? 'not in use' : `in use by process ${owner.pid}`;
  return { name, state: 'ok', detail: `${dataDir}, ${use}` };
}

// One attempt of one rollout: fresh workspace, the harness in its sandbox, a snapshot of what it left.
import { cp, lstat, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packDirectory } from '../../infra/process/archive/packDirectory.ts';
import type {
  ContainedResult,
  ContainmentLimits,
  Isolation,
} from '../../infra/process/sandbox/containment.ts';
import { runContained } from '../../infra/process/sandbox/runContained.ts';
import type { Task } from '../../infra/process/task/task.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { HarnessAdapter, HarnessContext } from './adapters/harnessAdapter.ts';
import { harnessDir, isInstalled } from './adapters/installHarness.ts';
import { tightenLimits } from './tightenLimits.ts';

export interface RolloutOptions {
  readonly task: Task;
  readonly adapter: HarnessAdapter;
  /** Model address of this rollout, e.g. http://127.0.0.1:4000/r/TOKEN. Nothing else can be reached. */
  readonly baseUrl: string;
  readonly token: string;
  readonly model?: string;
  readonly isolation: Isolation;
  readonly dirs: { readonly work: string; readonly leases: string; readonly harnesses: string };
  /** The run's limits; a task can only tighten them. */
  readonly limits: ContainmentLimits;
  readonly maxWorkspaceBytes?: number;
  /** Arguments and variables of this run's harness configuration. */
  readonly extraArgs?: readonly string[];
  readonly extraEnv?: Readonly<Record<string, string>>;
  readonly stdoutFile?: string;
  readonly signal?: AbortSignal;
}

export interface RolloutRun {
  readonly outcome: 'completed' | 'agentTimeout' | 'harnessError' | 'infrastructureFailure';
  readonly exitCode: number | null;
  readonly wallMs: number;
  /** The final workspace; null after an infrastructure failure, or when it was too large to pack. */
  readonly workspaceArchive: Uint8Array | null;
  readonly stdoutTail: string;
  readonly stderrTail: string;
  /** One line on anything but a plain success, else null. */
  readonly detail: string | null;
}

/**
 * Runs the harness on the task. When the promise settles no process of it is alive. What the agent can cause is its
 * own outcome and its workspace is kept; what it cannot (no start, an abort from outside) is infrastructureFailure.
 * Whether failed model calls make it one is for the caller, who knows the calls.
 * @throws EspalierError E_HARNESS_MISSING when the harness is not installed
 */
export async function runRollout(options: RolloutOptions): Promise<RolloutRun> {
  const { adapter, dirs } = options;
  if (!isInstalled(adapter, dirs.harnesses)) {
    const fix = `Run \`espalier harness install ${adapter.name}\` first.`;
    throw new EspalierError('E_HARNESS_MISSING', `${adapter.name} ${adapter.version} is not installed`, {
      fix,
    });
  }
  let root: string | undefined;
  try {
    await mkdir(dirs.work, { recursive: true });
    root = await mkdtemp(join(await realpath(dirs.work), 'rollout-'));
    const context = await prepare(root, options);
    const result = await runContained(containment(context, options));
    if (result.aborted) return infrastructureFailure('aborted', result);
    return await conclude(context.workspace, result, options);
  } catch (error) {
    return infrastructureFailure(error instanceof Error ? error.message : String(error));
  } finally {
    if (root !== undefined) await rm(root, { recursive: true, force: true }).catch(() => {});
  }
}

async function prepare(root: string, options: RolloutOptions): Promise<HarnessContext> {
  const { task, adapter } = options;
  const workspace = join(root, 'workspace');
  const home = join(root, 'home');
  await mkdir(workspace);
  await mkdir(home);
  if (task.workspace !== null) {
    await cp(task.workspace, workspace, { recursive: true, verbatimSymlinks: true });
  }
  const context: HarnessContext = {
    baseUrl: options.baseUrl.replace(/\/$/, ''),
    apiKey: options.token,
    model: options.model ?? 'policy',
    instruction: task.instruction,
    workspace,
    home,
    nodePath: await realpath(process.execPath),
    installDir: harnessDir(adapter, options.dirs.harnesses),
    extraArgs: options.extraArgs ?? [],
  };
  for (const file of adapter.files(context)) {
    await mkdir(dirname(join(home, file.path)), { recursive: true });
    await writeFile(join(home, file.path), file.text);
  }
  return context;
}

function containment(context: HarnessContext, options: RolloutOptions) {
  const { adapter, dirs, stdoutFile, signal } = options;
  return {
    argv: adapter.argv(context),
    cwd: context.workspace,
    home: context.home,
    env: { ...adapter.env(context), ...options.extraEnv },
    isolation: options.isolation,
    limits: tightenLimits(options.limits, options.task.limits),
    leaseDir: dirs.leases,
    readOnly: adapter.readOnly(context),
    proxyPort: Number(new URL(context.baseUrl).port),
    ...(stdoutFile === undefined ? {} : { stdoutFile }),
    ...(signal === undefined ? {} : { signal }),
  };
}

async function conclude(
  workspace: string,
  result: ContainedResult,
  options: RolloutOptions,
): Promise<RolloutRun> {
  const { exitCode, wallMs, stdoutTail, stderrTail } = result;
  const notes: string[] = [];
  let outcome: RolloutRun['outcome'] =
    exitCode === null ? 'harnessError' : options.adapter.exitMeaning(exitCode);
  if (result.timedOut) outcome = 'agentTimeout';
  else if (result.exceeded !== null) {
    outcome = 'harnessError';
    notes.push(`stopped: too much of ${result.exceeded}`);
  } else if (outcome === 'harnessError') {
    const said = stderrTail.trim().split('\n').at(-1)?.slice(0, 300);
    notes.push(
      `${exitCode === null ? `ended by ${result.signal}` : `exit code ${exitCode}`}${said ? `: ${said}` : ''}`,
    );
  }
  let workspaceArchive: Uint8Array | null = null;
  if (await restoreFolder(workspace)) notes.push('the workspace folder was gone; an empty one is verified');
  try {
    const packed = await packDirectory(workspace, options.maxWorkspaceBytes);
    workspaceArchive = packed.bytes;
    const first = packed.skipped[0];
    if (first !== undefined) {
      notes.push(`${packed.skipped.length} left out of the snapshot, e.g. ${first.path}: ${first.reason}`);
    }
  } catch (error) {
    if (!(error instanceof EspalierError)) throw error;
    outcome = result.timedOut ? 'agentTimeout' : 'harnessError';
    notes.push(error.message);
  }
  const detail = notes.length > 0 ? notes.join('; ') : null;
  return { outcome, exitCode, wallMs, workspaceArchive, stdoutTail, stderrTail, detail };
}

// An agent can remove its own workspace or put something else in its place; that must not hide its failure.
async function restoreFolder(folder: string): Promise<boolean> {
  const stats = await lstat(folder).catch(() => null);
  if (stats?.isDirectory()) return false;
  await rm(folder, { force: true });
  await mkdir(folder);
  return true;
}

function infrastructureFailure(detail: string, result?: ContainedResult): RolloutRun {
  return {
    outcome: 'infrastructureFailure',
    exitCode: result?.exitCode ?? null,
    wallMs: result?.wallMs ?? 0,
    workspaceArchive: null,
    stdoutTail: result?.stdoutTail ?? '',
    stderrTail: result?.stderrTail ?? '',
    detail,
  };
}

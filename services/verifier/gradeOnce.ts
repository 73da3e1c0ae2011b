import { cp, lstat, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackArchive } from '../../infra/process/archive/unpackArchive.ts';
import type { Isolation } from '../../infra/process/sandbox/containment.ts';
import { runContained } from '../../infra/process/sandbox/runContained.ts';
import type { Task } from '../../infra/process/task/task.ts';
import { EspalierError } from '../../schemas/errors.ts';
import { type Report, readReport } from './readReport.ts';

const reportBytes = 256 * 1024;
const graderLimits = { memoryMb: 4_096, processes: 512, diskMb: 1_024 };

export interface GradingPlace {
  readonly isolation: Isolation;
  /** Folder for the fresh places; made when missing. */
  readonly scratchDir: string;
  readonly leaseDir: string;
  readonly signal?: AbortSignal;
}

/**
 * Grades one workspace in a fresh place: an unpacked copy, a copy of the grader files, no network.
 * @throws EspalierError E_SANDBOX_START, E_WORKSPACE or E_INTERRUPTED: no fault of grader or agent
 */
export async function gradeOnce(
  task: Task,
  workspace: { readonly archive: Uint8Array } | { readonly folder: string | null },
  place: GradingPlace,
): Promise<Report> {
  await mkdir(place.scratchDir, { recursive: true });
  const root = await mkdtemp(join(place.scratchDir, 'verify-'));
  try {
    const at = (name: string): string => join(root, name);
    for (const name of ['workspace', 'grader', 'out', 'home']) await mkdir(at(name));
    if ('archive' in workspace) await unpackArchive(workspace.archive, at('workspace'));
    else if (workspace.folder !== null) await cp(workspace.folder, at('workspace'), { recursive: true });
    const { files } = task.verifier;
    if (files !== null) await cp(files, at('grader'), { recursive: true });
    const result = await runContained({
      argv: task.verifier.command,
      cwd: at('grader'),
      home: at('home'),
      env: { WORKSPACE: at('workspace'), GRADER: at('grader'), OUT: at('out') },
      isolation: place.isolation,
      limits: { ...graderLimits, wallMs: task.verifier.timeoutSeconds * 1_000 },
      leaseDir: place.leaseDir,
      writable: [at('workspace'), at('out')],
      ...(place.signal === undefined ? {} : { signal: place.signal }),
    });
    if (result.aborted) throw new EspalierError('E_INTERRUPTED', 'the verification was interrupted');
    const { timeoutSeconds } = task.verifier;
    if (result.timedOut) return { ok: false, reason: `it did not end within ${timeoutSeconds} s` };
    if (result.exceeded !== null) return { ok: false, reason: `it used too much of: ${result.exceeded}` };
    const report = readReport(
      {
        rewardJson: await readSmall(at('out/reward.json')),
        rewardTxt: await readSmall(at('out/reward.txt')),
        stdout: result.stdoutTail,
        exitCode: result.exitCode,
      },
      task.verifier,
    );
    const said = result.stderrTail.trim().split('\n').at(-1)?.slice(0, 300);
    return report.ok || !said ? report : { ok: false, reason: `${report.reason} (${said})` };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function readSmall(file: string): Promise<string | null> {
  const stats = await lstat(file).catch(() => null);
  if (stats === null || !stats.isFile()) return null;
  if (stats.size > reportBytes) return `a report of ${stats.size} bytes`;
  return readFile(file, 'utf8');
}

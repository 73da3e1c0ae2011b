import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from '../../infra/blobs/blobs.ts';
import type { EventLog } from '../../infra/log/eventLog.ts';
import type { ProbeResult } from '../../infra/process/sandbox/probeBubblewrap.ts';
import { unpackTask } from '../../infra/process/task/packTask.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { RolloutEnded, RolloutRequested } from '../../schemas/generated/events.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import type { RolloutClaims } from '../../schemas/rolloutToken.ts';
import { findAdapter } from './adapters/findAdapter.ts';
import { chooseIsolation } from './chooseIsolation.ts';
import { lastCallFailed } from './lastCallFailed.ts';
import { runRollout } from './runRollout.ts';

/** How long after its wall limit a token still works: the last call may be in flight. */
const TOKEN_GRACE_MS = 120_000;

/** Everything a sandbox service works with. */
export interface SandboxContext {
  readonly log: EventLog;
  readonly blobs: Blobs;
  /** Address of the proxy's model listener, without a path. */
  readonly modelUrl: string;
  /** Signs the token that lets an attempt's harness call the model. */
  readonly sign: (claims: RolloutClaims) => string;
  /** Refuses further calls of an attempt and makes the proxy publish how many there were. */
  readonly seal: (claims: RolloutClaims) => Promise<unknown>;
  readonly dirs: { readonly work: string; readonly leases: string; readonly harnesses: string };
  readonly probe: ProbeResult;
  readonly settings: {
    readonly sandbox: 'auto' | 'bubblewrap' | 'process';
    readonly wallSeconds: number;
    readonly maxTurns: number;
    readonly contextLimit: number;
  };
  readonly digests: { readonly tokenizer: string; readonly template: string };
  readonly now: () => number;
}

/**
 * Runs one attempt from its start event to its end event. The harness is dead before the attempt is
 * sealed, and the attempt is sealed before it ends, so whoever reads the end knows that its calls
 * are counted. Never throws for what goes wrong with the attempt: that is its outcome.
 */
export async function runAttempt(
  context: SandboxContext,
  request: RolloutRequested,
  signal: AbortSignal,
): Promise<void> {
  const { log, now, settings } = context;
  const place = await mkdtemp(join(context.dirs.work, 'attempt-'));
  try {
    const adapter = findAdapter(request.harness);
    const requested = settings.sandbox === 'auto' ? undefined : settings.sandbox;
    const { isolation } = chooseIsolation(adapter, context.probe, requested);
    await log.append([
      {
        topic: 'rollouts',
        event: {
          ...identity(request),
          type: 'RolloutStarted',
          harness: request.harness,
          isolation,
          tokenizerDigest: context.digests.tokenizer,
          templateDigest: context.digests.template,
          at: now(),
        },
      },
    ]);
    if (request.task === null)
      throw new EspalierError('E_TASK_MISSING', `${request.rolloutId} has no task archive`);
    const task = await unpackTask(await context.blobs.get(request.task), join(place, 'task'));
    const claims = await claimsOf(context, request);
    const token = context.sign(claims);
    const run = await runRollout({
      task,
      adapter,
      baseUrl: `${context.modelUrl}/r/${token}`,
      token,
      isolation,
      dirs: context.dirs,
      limits: { wallMs: settings.wallSeconds * 1000 },
      extraArgs:
        adapter.install === null
          ? ['--max-turns', String(settings.maxTurns), '--context-limit', String(settings.contextLimit)]
          : [],
      signal,
    });
    const workspace = run.workspaceArchive === null ? null : await context.blobs.put(run.workspaceArchive);
    await context.seal(claims);
    // Some harnesses end with success after a model call that failed: the calls say what happened.
    const unrecovered = run.outcome !== 'agentTimeout' && (await lastCallFailed(log, claims));
    const outcome = unrecovered ? 'infrastructureFailure' : run.outcome;
    const detail =
      outcome === run.outcome
        ? run.detail
        : `the last model call failed; ${run.detail ?? 'the harness ended normally'}`;
    await end(context, request, {
      outcome,
      exitCode: run.exitCode,
      detail,
      workspace,
      wallMs: Math.round(run.wallMs),
    });
  } catch (error) {
    if (signal.aborted) return;
    await failAttempt(context, request, error instanceof Error ? error.message : String(error));
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Seals an attempt whose harness is gone or never came up, and ends it as an infrastructure failure. */
export async function failAttempt(
  context: SandboxContext,
  request: RolloutRequested,
  detail: string,
): Promise<void> {
  await context.seal(await claimsOf(context, request, 0));
  await end(context, request, {
    outcome: 'infrastructureFailure',
    exitCode: null,
    detail,
    workspace: null,
    wallMs: null,
  });
}

/** @param startOffset where the attempt's calls begin in the log; absent: at its present end */
async function claimsOf(
  context: SandboxContext,
  request: RolloutRequested,
  startOffset?: number,
): Promise<RolloutClaims> {
  const { runId, groupId, rolloutId, attempt, taskId, harness } = request;
  const { log, now, settings } = context;
  const end = await log.end('model-calls', partitionOf(groupId, log.partitions));
  return {
    runId,
    groupId,
    rolloutId,
    attempt,
    taskId,
    harness,
    expiresAt: now() + settings.wallSeconds * 1000 + TOKEN_GRACE_MS,
    startOffset: startOffset ?? Number(end),
    ...(startOffset === undefined ? { issuedAt: now() } : {}),
  };
}

type Ending = Pick<RolloutEnded, 'outcome' | 'exitCode' | 'detail' | 'workspace' | 'wallMs'>;

async function end(context: SandboxContext, request: RolloutRequested, ending: Ending): Promise<void> {
  await context.log.append([
    {
      topic: 'rollouts',
      event: { ...identity(request), type: 'RolloutEnded', ...ending, at: context.now() },
    },
  ]);
}

function identity(request: RolloutRequested) {
  const { runId, groupId, rolloutId, attempt } = request;
  return { runId, groupId, rolloutId, attempt };
}

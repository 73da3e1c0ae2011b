import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from '../../infra/blobs/blobs.ts';
import type { EventLog } from '../../infra/log/eventLog.ts';
import { follow } from '../../infra/log/follow.ts';
import type { Isolation } from '../../infra/process/sandbox/containment.ts';
import { unpackTask } from '../../infra/process/task/packTask.ts';
import type { EspalierEvent, RolloutEnded, RolloutRequested } from '../../schemas/generated/events.ts';
import { verify } from './verify.ts';

/** Everything a verifier service works with. */
export interface VerifierContext {
  readonly log: EventLog;
  readonly blobs: Blobs;
  readonly runId: string;
  readonly concurrency: number;
  readonly isolation: Isolation;
  readonly graderFailureReward: number;
  readonly dirs: { readonly work: string; readonly leases: string };
  readonly now: () => number;
  readonly onFatal: (error: unknown) => void;
}

/** A verifier service at work. */
export interface Verifier {
  close(): Promise<void>;
}

/**
 * Verifies every attempt of the run that ended and has no result yet. Work that a crash interrupted is
 * done again: the first result of an attempt in the log is the one that counts.
 */
export async function startVerifier(context: VerifierContext): Promise<Verifier> {
  const { log, runId, concurrency, onFatal } = context;
  await mkdir(context.dirs.work, { recursive: true });
  const stop = new AbortController();
  const requests = new Map<string, RolloutRequested>();
  const waiting = new Map<string, RolloutEnded>();
  const over = new Set<string>();
  const running = new Map<string, Promise<void>>();

  const fold = (event: EspalierEvent): void => {
    if (!('runId' in event) || event.runId !== runId) return;
    switch (event.type) {
      case 'RolloutRequested':
        requests.set(event.rolloutId, event);
        return;
      case 'RolloutEnded':
        if (event.outcome !== 'infrastructureFailure' && !over.has(idOf(event)))
          waiting.set(idOf(event), event);
        return;
      case 'RolloutSettled':
        requests.delete(event.rolloutId);
        return;
      case 'RewardGiven':
      case 'VerificationFailed':
        over.add(idOf(event));
        waiting.delete(idOf(event));
        return;
    }
  };
  const fill = (): void => {
    for (const [id, ended] of waiting) {
      if (running.size >= concurrency || stop.signal.aborted) return;
      const request = requests.get(ended.rolloutId);
      if (running.has(id) || request === undefined) continue;
      const done = verifyAttempt(context, request, ended, stop.signal)
        .then((result) => {
          over.add(id);
          return log.append([{ topic: 'rewards', event: result }]);
        })
        .then(() => {})
        .catch((error) => {
          if (!stop.signal.aborted) onFatal(error);
        })
        .finally(() => {
          running.delete(id);
          waiting.delete(id);
          fill();
        });
      running.set(id, done);
    }
  };
  const loop = follow({
    log,
    topics: ['rewards', 'rollout-requests', 'rollouts'],
    signal: stop.signal,
    onEvents: (events) => events.forEach(fold),
    onCaughtUp: fill,
  });
  loop.catch(onFatal);
  return {
    close: async () => {
      stop.abort();
      await Promise.allSettled([loop, ...running.values()]);
    },
  };
}

async function verifyAttempt(
  context: VerifierContext,
  request: RolloutRequested,
  ended: RolloutEnded,
  signal: AbortSignal,
): Promise<EspalierEvent> {
  const { runId, groupId, rolloutId, attempt } = ended;
  const head = { runId, groupId, rolloutId, attempt, at: context.now() };
  if (request.task === null)
    return { ...head, type: 'VerificationFailed', reason: 'the request has no task' };
  const place = await mkdtemp(join(context.dirs.work, 'verify-'));
  try {
    const task = await unpackTask(await context.blobs.get(request.task), join(place, 'task'));
    const result = await verify({
      task,
      workspaceArchive: ended.workspace === null ? null : await context.blobs.get(ended.workspace),
      isolation: context.isolation,
      scratchDir: context.dirs.work,
      leaseDir: context.dirs.leases,
      graderFailureReward: context.graderFailureReward,
      signal,
    });
    if (result.kind === 'failed') return { ...head, type: 'VerificationFailed', reason: result.reason };
    const flag = result.flagged === null ? null : 'graderFailure';
    return { ...head, type: 'RewardGiven', reward: result.reward, criteria: result.criteria ?? {}, flag };
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

const idOf = (event: { readonly rolloutId: string; readonly attempt: number }) =>
  `${event.rolloutId}/${event.attempt}`;

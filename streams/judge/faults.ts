import type { ModelCalled } from '../../schemas/generated/events.ts';
import type { PolicyVersions } from '../pipelineConfig.ts';

/** Log-probabilities at or below this are an engine's mark for "none". */
const NO_LOGPROB = -9999;

/** Why a call that a later one goes on from is context and not trained. */
export type ContextReason = 'failed' | 'aborted' | 'empty' | 'constrained' | 'rawLogprobs' | 'unknownVersion';

/** Why a call that nothing extends is no valid end of a trajectory. */
export type EndReason = 'failed' | 'aborted' | 'empty' | 'undelivered' | 'truncated';

/** What keeps a call's tokens out of the loss; null when they can be trained. */
export function contextReason(call: ModelCalled, versions: PolicyVersions): ContextReason | null {
  if (isUnusable(call)) return 'failed';
  if (call.finishReason === 'abort') return 'aborted';
  if (call.sampledTokenIds.length === 0) return 'empty';
  if (call.constraint !== null || !sampledFreely(call)) return 'constrained';
  if (call.logprobsMode === 'raw' && call.temperature !== 1) return 'rawLogprobs';
  return namesVersion(call, versions) ? null : 'unknownVersion';
}

/** What makes a call no valid end of a trajectory; null when it is one. Ask only where nothing extends it. */
export function endReason(call: ModelCalled, undelivered: ReadonlySet<string>): EndReason | null {
  if (isUnusable(call)) return 'failed';
  if (call.finishReason === 'abort') return 'aborted';
  if (call.sampledTokenIds.length === 0) return 'empty';
  if (undelivered.has(call.callId)) return 'undelivered';
  return call.finishReason === 'length' ? 'truncated' : null;
}

function isUnusable({ sampledTokenIds, rolloutLogprobs }: ModelCalled): boolean {
  if (sampledTokenIds.length !== rolloutLogprobs.length) return true;
  for (const logprob of rolloutLogprobs) if (!Number.isFinite(logprob) || logprob <= NO_LOGPROB) return true;
  return false;
}

/** Greedy, nucleus or top-k sampling draws from another distribution than the one that is trained. */
function sampledFreely({ temperature, topP, topK }: ModelCalled): boolean {
  return temperature > 0 && topP >= 1 && topK <= 0;
}

function namesVersion({ policySpans, sampledTokenIds }: ModelCalled, versions: PolicyVersions): boolean {
  if (versions === 'ignored') return true;
  if (versions !== 'named') return policySpans.some((span) => versions.has(span.version));
  let covered = 0;
  for (const span of policySpans)
    if (span.version !== '' && span.start <= covered) covered = Math.max(covered, span.end);
  return covered >= sampledTokenIds.length;
}

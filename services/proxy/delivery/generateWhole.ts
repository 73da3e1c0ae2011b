import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, GenerateRequest, GenerateResult } from '../../../infra/engine/engine.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import type { PolicySpan } from '../../../schemas/generated/events.ts';
import { concat } from '../lineage/buildPrompt.ts';

const mostIdleTries = 6;
const firstWaitMs = 50;

/**
 * Generates a reply to its end. When the engine aborts one that nobody asked it to abort (new weights, a
 * restart), the input and what was sampled so far go in again, so an abort costs the rollout nothing.
 * @throws EspalierError E_ENGINE, E_ENGINE_REPLY when it cannot be resumed; the signal's reason when aborted
 */
export async function generateWhole(engine: Engine, request: GenerateRequest): Promise<GenerateResult> {
  const parts: GenerateResult[] = [];
  let idle = 0;
  for (;;) {
    const sampled = parts.reduce((sum, part) => sum + part.tokenIds.length, 0);
    if (sampled >= request.maxTokens) return join(parts, 'length');
    const part = await generatePart(engine, request, parts, sampled, idle);
    if (part !== undefined) {
      checkReply(part);
      if (part.tokenIds.length > 0) parts.push(part);
      if (part.finishReason !== 'abort') return join(parts.length > 0 ? parts : [part], part.finishReason);
    }
    idle = part !== undefined && part.tokenIds.length > 0 ? 0 : idle + 1;
    if (idle >= mostIdleTries) throw new EspalierError('E_ENGINE', 'the engine keeps aborting the call');
    await sleep(firstWaitMs * 2 ** idle, undefined, { signal: request.signal }).catch(() => undefined);
    if (request.signal.aborted) throw request.signal.reason;
  }
}

/** undefined: the engine was away while a reply was half done. */
async function generatePart(
  engine: Engine,
  request: GenerateRequest,
  parts: readonly GenerateResult[],
  sampled: number,
  idle: number,
): Promise<GenerateResult | undefined> {
  const before = parts.map((part) => part.tokenIds);
  const { stopWhen } = request;
  try {
    return await engine.generate({
      ...request,
      requestId:
        parts.length + idle === 0 ? request.requestId : `${request.requestId}-${parts.length}-${idle}`,
      inputIds: parts.length === 0 ? request.inputIds : concat([request.inputIds, ...before]),
      maxTokens: request.maxTokens - sampled,
      ...(stopWhen === undefined || parts.length === 0
        ? {}
        : { stopWhen: (ids: ArrayLike<number>) => stopWhen(concat([...before, Int32Array.from(ids)])) }),
    });
  } catch (error) {
    const away = error instanceof EspalierError && error.code === 'E_ENGINE' && !request.signal.aborted;
    if (away && parts.length > 0) return undefined;
    throw error;
  }
}

/** What every engine must keep, whatever its adapter checked. */
function checkReply(part: GenerateResult): void {
  const { tokenIds, logprobs, policySpans } = part;
  if (tokenIds.length !== logprobs.length) {
    throw new EspalierError(
      'E_ENGINE_REPLY',
      `${tokenIds.length} ids came with ${logprobs.length} log-probabilities`,
    );
  }
  if (logprobs.some((logprob) => !Number.isFinite(logprob) || logprob <= -9999)) {
    throw new EspalierError('E_ENGINE_REPLY', 'a token has no log-probability');
  }
  if (tokenIds.length > 0 && policySpans.at(-1)?.end !== tokenIds.length) {
    throw new EspalierError('E_ENGINE_REPLY', 'the policy versions do not cover all tokens');
  }
}

function join(
  parts: readonly GenerateResult[],
  finishReason: GenerateResult['finishReason'],
): GenerateResult {
  const logprobs = new Float32Array(parts.reduce((sum, part) => sum + part.logprobs.length, 0));
  const spans: PolicySpan[] = [];
  let at = 0;
  for (const part of parts) {
    logprobs.set(part.logprobs, at);
    for (const span of part.policySpans) {
      const last = spans.at(-1);
      const end = span.end + at;
      if (last?.version === span.version) spans[spans.length - 1] = { ...last, end };
      else spans.push({ version: span.version, start: span.start + at, end });
    }
    at += part.tokenIds.length;
  }
  return {
    tokenIds: concat(parts.map((part) => part.tokenIds)),
    logprobs,
    logprobsMode: parts.some((part) => part.logprobsMode === 'raw') ? 'raw' : 'processed',
    policySpans: spans,
    finishReason,
    engineMs: parts.reduce((sum, part) => sum + part.engineMs, 0),
  };
}

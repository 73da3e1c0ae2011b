import type { GenerateResult } from '../../../infra/engine/engine.ts';
import type { ParsedReply } from '../../../infra/model/parse/parseReply.ts';
import { assistantMessage } from '../../../schemas/canonical.ts';
import type { ModelCalled, ModelCallFailed } from '../../../schemas/generated/events.ts';
import type { RolloutClaims } from '../../../schemas/rolloutToken.ts';
import type { OpenCall } from './makeCall.ts';
import { newToolCallId } from './newCallId.ts';

/** Where a call keeps the digest of the request bytes it answered, among its headers. */
export const REQUEST_DIGEST = 'espalier-request-digest';

/** The record of a call that gave a sample. */
export function calledEvent(
  claims: RolloutClaims,
  open: OpenCall,
  sampled: GenerateResult,
  parsed: ParsedReply,
  completedAt: number,
): ModelCalled {
  const { plan, call } = open;
  const toolCalls = parsed.toolCalls.map((written) => ({ id: newToolCallId(), ...written }));
  const finishReason =
    sampled.finishReason === 'length' ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop';
  return {
    type: 'ModelCalled',
    ...head(claims, open),
    taskId: claims.taskId,
    harness: claims.harness,
    parentCallId: plan.parentCallId,
    prefixTokenCount: plan.prefixTokenCount,
    prefixDigest: plan.prefixDigest,
    envTokenIds: plan.envTokenIds,
    sampledTokenIds: sampled.tokenIds,
    rolloutLogprobs: sampled.logprobs,
    policySpans: sampled.policySpans,
    finishReason,
    temperature: open.temperature,
    topP: 1,
    topK: -1,
    maxTokens: open.maxTokens,
    requestedSampling: JSON.stringify(call.request.requestedSampling),
    logprobsMode: sampled.logprobsMode,
    constraint: null,
    dialect: call.dialect,
    threadKey: call.hints.threadKey,
    agentId: call.hints.agentId,
    parentAgentId: call.hints.parentAgentId,
    headers: { ...call.hints.headers, [REQUEST_DIGEST]: call.digest },
    newMessages: plan.newMessages,
    response: assistantMessage(parsed.content, toolCalls, parsed.reasoning),
    contextDigest: plan.contextDigest,
    context: plan.context,
    attribution: plan.attribution,
    templateDivergence: plan.templateDivergence,
    requestedAt: call.requestedAt,
    // The reply begins only after its record is durable, so this is the earliest it could begin.
    firstByteAt: completedAt,
    completedAt,
    engineMs: sampled.engineMs,
  };
}

/** The record of a call that gave none. */
export function failedEvent(
  claims: RolloutClaims,
  open: OpenCall,
  reason: string,
  detail: string,
  at: number,
): ModelCallFailed {
  return { type: 'ModelCallFailed', ...head(claims, open), reason, detail, at };
}

function head({ runId, groupId, rolloutId, attempt }: RolloutClaims, { callId, seq }: OpenCall) {
  return { runId, groupId, rolloutId, attempt, callId, seq };
}

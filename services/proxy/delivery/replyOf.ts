import type { ModelCalled } from '../../../schemas/generated/events.ts';
import type { CanonicalReply } from '../dialects/dialect.ts';

/**
 * The reply a recorded call gives its harness.
 * @param model the name the harness asked for; '' where it is not known any more
 * @param stopString what cut the reply, where it is known
 */
export function replyOf(call: ModelCalled, model: string, stopString: string | null): CanonicalReply {
  const toolCalls = call.response?.toolCalls ?? [];
  const cut = call.finishReason === 'length';
  return {
    id: call.callId.replaceAll('-', ''),
    model,
    createdAt: Math.floor(call.completedAt / 1000),
    reasoning: call.response?.reasoning ?? null,
    content: call.response?.content ?? '',
    toolCalls,
    finish:
      stopString !== null ? 'stop_string' : cut ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop',
    stopString,
    inputTokens: call.prefixTokenCount + call.envTokenIds.length,
    outputTokens: call.sampledTokenIds.length,
  };
}

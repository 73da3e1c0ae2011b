import type { CanonicalRequest } from '../lineage/canonicalRequest.ts';
import type { CanonicalReply, ErrorAnswer, Problem, ProblemKind } from './dialect.ts';
import { sseEvent, textPieces } from './sse.ts';

/** A chat completion object. */
export function chatCompletion(reply: CanonicalReply): object {
  const toolCalls = reply.toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return {
    ...head(reply, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.content === '' && toolCalls.length > 0 ? null : reply.content,
          refusal: null,
          ...(reply.reasoning === null ? {} : { reasoning_content: reply.reasoning }),
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
        },
        logprobs: null,
        finish_reason: finishReason(reply),
      },
    ],
    usage: usageOf(reply),
  };
}

/** The whole chunk stream of a chat completion, `[DONE]` last. */
export function chatStream(reply: CanonicalReply, request: CanonicalRequest): string {
  const events: string[] = [];
  const base = head(reply, 'chat.completion.chunk');
  const usage = request.includeUsage ? { usage: null } : {};
  const emit = (delta: object, finish: string | null = null): void => {
    events.push(
      sseEvent({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...usage }),
    );
  };
  emit({ role: 'assistant', content: '' });
  for (const text of textPieces(reply.reasoning ?? '')) emit({ reasoning_content: text });
  for (const content of textPieces(reply.content)) emit({ content });
  for (const [index, call] of reply.toolCalls.entries()) {
    emit({
      tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
    });
    for (const piece of textPieces(call.arguments))
      emit({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  emit({}, finishReason(reply));
  if (request.includeUsage) events.push(sseEvent({ ...base, choices: [], usage: usageOf(reply) }));
  events.push('data: [DONE]\n\n');
  return events.join('');
}

function head(reply: CanonicalReply, object: string): object {
  return { id: `chatcmpl-${reply.id}`, object, created: reply.createdAt, model: reply.model };
}

function finishReason(reply: CanonicalReply): string {
  return reply.finish === 'stop_string' ? 'stop' : reply.finish;
}

function usageOf(reply: CanonicalReply): object {
  return {
    prompt_tokens: reply.inputTokens,
    completion_tokens: reply.outputTokens,
    total_tokens: reply.inputTokens + reply.outputTokens,
  };
}

const errorTypes: Readonly<Record<ProblemKind, readonly [number, string, string | null]>> = {
  badRequest: [400, 'invalid_request_error', null],
  contextLength: [400, 'invalid_request_error', 'context_length_exceeded'],
  unauthorized: [401, 'invalid_request_error', 'invalid_api_key'],
  forbidden: [403, 'invalid_request_error', 'rollout_closed'],
  notFound: [404, 'invalid_request_error', 'unknown_url'],
  tooLarge: [413, 'invalid_request_error', 'request_too_large'],
  overloaded: [429, 'rate_limit_error', 'rate_limit_exceeded'],
  unavailable: [503, 'server_error', 'service_unavailable'],
  internal: [500, 'server_error', null],
};

/** An error in OpenAI's shape. */
export function chatError(problem: Problem): ErrorAnswer {
  const [status, type, code] = errorTypes[problem.kind];
  return { status, body: { error: { message: problem.message, type, param: null, code } } };
}

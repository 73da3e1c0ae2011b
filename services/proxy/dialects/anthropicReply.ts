import { createHash } from 'node:crypto';
import type { CanonicalReply, ErrorAnswer, Problem, ProblemKind } from './dialect.ts';
import { sseEvent, textPieces } from './sse.ts';

type Block =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown };

/** An Anthropic message object. */
export function anthropicMessage(reply: CanonicalReply): object {
  return {
    ...head(reply),
    content: blocksOf(reply),
    stop_reason: stopReason(reply),
    stop_sequence: reply.stopString,
    usage: usageOf(reply, reply.outputTokens),
  };
}

/** The whole event stream of an Anthropic message. Real input tokens stand in its first and last event. */
export function anthropicStream(reply: CanonicalReply): string {
  const events: string[] = [];
  const emit = (type: string, data: object): void => {
    events.push(sseEvent({ type, ...data }, type));
  };
  emit('message_start', {
    message: {
      ...head(reply),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf(reply, 1),
    },
  });
  for (const [index, block] of blocksOf(reply).entries()) {
    emit('content_block_start', { index, content_block: emptied(block) });
    const delta = (value: object): void => emit('content_block_delta', { index, delta: value });
    if (block.type === 'text') for (const text of textPieces(block.text)) delta({ type: 'text_delta', text });
    else if (block.type === 'thinking') {
      for (const thinking of textPieces(block.thinking)) delta({ type: 'thinking_delta', thinking });
      delta({ type: 'signature_delta', signature: block.signature });
    } else {
      const written = reply.toolCalls.find((call) => call.id === block.id)!.arguments;
      for (const json of textPieces(written)) delta({ type: 'input_json_delta', partial_json: json });
    }
    emit('content_block_stop', { index });
  }
  emit('message_delta', {
    delta: { stop_reason: stopReason(reply), stop_sequence: reply.stopString },
    usage: usageOf(reply, reply.outputTokens),
  });
  emit('message_stop', {});
  return events.join('');
}

function head(reply: CanonicalReply): object {
  return { id: `msg${reply.id}`, type: 'message', role: 'assistant', model: reply.model };
}

function blocksOf(reply: CanonicalReply): readonly Block[] {
  const blocks: Block[] = [];
  if (reply.reasoning !== null) {
    const signature = createHash('sha256').update(reply.id).digest('base64');
    blocks.push({ type: 'thinking', thinking: reply.reasoning, signature });
  }
  if (reply.content.trim() !== '') blocks.push({ type: 'text', text: reply.content });
  for (const call of reply.toolCalls) {
    blocks.push({ type: 'tool_use', id: call.id, name: call.name, input: JSON.parse(call.arguments) });
  }
  return blocks;
}

function emptied(block: Block): object {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { ...block, input: {} };
}

function stopReason(reply: CanonicalReply): string {
  const reasons = {
    stop: 'end_turn',
    length: 'max_tokens',
    tool_calls: 'tool_use',
    stop_string: 'stop_sequence',
  } as const;
  return reasons[reply.finish];
}

function usageOf(reply: CanonicalReply, outputTokens: number): object {
  return {
    input_tokens: reply.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  };
}

const errorTypes: Readonly<Record<ProblemKind, readonly [number, string]>> = {
  badRequest: [400, 'invalid_request_error'],
  contextLength: [400, 'invalid_request_error'],
  unauthorized: [401, 'authentication_error'],
  forbidden: [403, 'permission_error'],
  notFound: [404, 'not_found_error'],
  tooLarge: [413, 'request_too_large'],
  overloaded: [429, 'rate_limit_error'],
  unavailable: [503, 'overloaded_error'],
  internal: [500, 'api_error'],
};

/** An error in Anthropic's shape. */
export function anthropicError(problem: Problem): ErrorAnswer {
  const [status, type] = errorTypes[problem.kind];
  return { status, body: { type: 'error', error: { type, message: problem.message } } };
}

import { anthropicError, anthropicMessage, anthropicStream } from './anthropicReply.ts';
import { readAnthropicRequest } from './anthropicRequest.ts';
import type { Dialect } from './dialect.ts';
import { sseEvent } from './sse.ts';

/** Anthropic Messages. */
export const anthropic: Dialect = {
  name: 'anthropicMessages',
  readRequest: readAnthropicRequest,
  toJson: anthropicMessage,
  toSse: anthropicStream,
  // A real event: comments do not reset the stall timers of clients.
  keepAlive: sseEvent({ type: 'ping' }, 'ping'),
  toError: anthropicError,
  toSseError: (problem) => sseEvent(anthropicError(problem).body, 'error'),
};

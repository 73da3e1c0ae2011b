import { chatCompletion, chatError, chatStream } from './chatReply.ts';
import { readChatRequest } from './chatRequest.ts';
import type { Dialect } from './dialect.ts';
import { sseEvent } from './sse.ts';

/** OpenAI Chat Completions. */
export const chatCompletions: Dialect = {
  name: 'chatCompletions',
  readRequest: readChatRequest,
  toJson: chatCompletion,
  toSse: chatStream,
  keepAlive: ': keep-alive\n\n',
  toError: chatError,
  toSseError: (problem) => sseEvent(chatError(problem).body),
};

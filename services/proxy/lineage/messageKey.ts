import { createHash } from 'node:crypto';
import { canonicalJson, type ToolDefinition } from '../../../schemas/canonical.ts';
import type { Message, ToolCall } from '../../../schemas/generated/events.ts';

/**
 * What a message is compared by. Harnesses re-serialise what they send back, so an assistant message
 * is known by its tool-call ids, and text by what is left after white space at the ends and line
 * endings are evened out. Comparison only: prompts are rendered from the messages as they came.
 */
export function messageKey(message: Message): string {
  const ids = callIdsKey(message.toolCalls);
  if (message.role === 'assistant' && ids !== '') return `assistant ids ${ids}`;
  const id = message.toolCallId === null ? '' : normalizeCallId(message.toolCallId);
  return digest(`${message.role}\n${id}\n${plainText(message)}`);
}

/** Ids of a turn's tool calls in order, as one key; '' when it has none. */
export function callIdsKey(toolCalls: readonly ToolCall[]): string {
  return toolCalls.map((call) => normalizeCallId(call.id)).join(' ');
}

/** Harnesses drop punctuation from ids; letters and digits survive. */
export function normalizeCallId(id: string): string {
  return id.replace(/[^A-Za-z0-9]/gu, '');
}

/** Text of a message as compared; an assistant's reasoning, tagged or apart, does not count. */
export function plainText(message: Message): string {
  const text = message.content.replaceAll('\r\n', '\n');
  if (message.role !== 'assistant') return text.trimEnd();
  return text.replace(/<think>[\s\S]*?(?:<\/think>|$)/gu, '').trim();
}

/** Digest of what opens a thread: system text and tools, whatever the order of keys. */
export function contextDigestOf(system: string, tools: readonly ToolDefinition[]): string {
  return digest(canonicalJson({ system: system.replaceAll('\r\n', '\n').trimEnd(), tools }));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 27);
}

import type { Message, ModelCalled } from '../../../schemas/generated/events.ts';
import { callIdsKey, messageKey, plainText } from './messageKey.ts';

/** A point in a conversation: what was said so far. Messages lead on, and so do sampled replies. */
export interface ConversationPoint {
  readonly next: Map<string, ConversationPoint>;
  readonly replies: Reply[];
}

/** A recorded reply that was given at a point. */
export interface Reply {
  readonly call: ModelCalled;
  readonly idsKey: string;
  readonly text: string;
  readonly after: ConversationPoint;
}

/** How far a request repeats what is known. */
export interface Walk {
  /** The last recorded reply on the way; null when the request repeats none. */
  readonly reply: Reply | null;
  /** Index of the first message after it. */
  readonly from: number;
  readonly by: 'toolCallId' | 'text' | null;
}

/** A point at which nothing was said yet. */
export function startPoint(): ConversationPoint {
  return { next: new Map(), replies: [] };
}

/** Adds messages after a point. */
export function advance(point: ConversationPoint, messages: readonly Message[]): ConversationPoint {
  let at = point;
  for (const message of messages) {
    const key = messageKey(message);
    let next = at.next.get(key);
    if (next === undefined) {
      next = startPoint();
      at.next.set(key, next);
    }
    at = next;
  }
  return at;
}

/** Records a reply at the point its request had reached. `prefill` is the beginning it was given. */
export function addReply(point: ConversationPoint, call: ModelCalled, prefill: string): Reply {
  const response = call.response;
  const whole = response === null ? null : { ...response, content: prefill + response.content };
  const reply: Reply = {
    call,
    idsKey: callIdsKey(response?.toolCalls ?? []),
    text: whole === null ? '' : plainText(whole),
    after: startPoint(),
  };
  point.replies.push(reply);
  return reply;
}

/**
 * Follows a request through what is known. At each point an assistant message is looked for among the
 * sampled replies, else among messages that came from outside.
 */
export function walk(start: ConversationPoint, messages: readonly Message[]): Walk {
  let point = start;
  let found: Walk = { reply: null, from: 0, by: null };
  for (const [at, message] of messages.entries()) {
    const reply = message.role === 'assistant' ? findReply(point, message, messages[at + 1]) : undefined;
    if (reply !== undefined) {
      point = reply.after;
      const by = reply.idsKey === '' ? 'text' : 'toolCallId';
      found = { reply, from: at + 1, by };
      continue;
    }
    const next = point.next.get(messageKey(message));
    if (next === undefined) break;
    point = next;
  }
  return found;
}

function findReply(
  point: ConversationPoint,
  message: Message,
  following: Message | undefined,
): Reply | undefined {
  const idsKey = callIdsKey(message.toolCalls);
  if (idsKey !== '') {
    return point.replies.find((reply) => reply.idsKey === idsKey) ?? findBehindEphemeral(point, idsKey);
  }
  const text = plainText(message);
  const same = point.replies.filter((reply) => reply.idsKey === '' && reply.text === text);
  if (same.length < 2 || following === undefined) return same.at(-1);
  // The same words sampled twice: prefer the reply that the harness is known to have gone on from.
  const key = messageKey(following);
  return same.findLast((reply) => reply.after.next.has(key)) ?? same.at(-1);
}

/**
 * Some harnesses put a passing note behind the conversation and take it away again in the next
 * request. The reply then stands behind a user or system message that is gone: its tool-call ids prove
 * that it is the same reply, and the note stays in the history that the policy saw.
 */
function findBehindEphemeral(point: ConversationPoint, idsKey: string): Reply | undefined {
  for (const next of point.next.values()) {
    const reply = next.replies.find((candidate) => candidate.idsKey === idsKey);
    if (reply?.call.newMessages.at(-1)?.role === 'user') return reply;
  }
  return undefined;
}

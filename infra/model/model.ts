import type { ToolDefinition } from '../../schemas/canonical.ts';
import type { Message } from '../../schemas/generated/events.ts';
import type { ParsedReply } from './parse/parseReply.ts';

/** What is known of the reply that new messages follow. */
export interface PreviousReply {
  /** The decoded reply: its tool calls shape what the template prints after it. */
  readonly response: Message;
  /** All ids of the reply as sampled, its end-of-turn id included where there was one. */
  readonly sampledTokenIds: Int32Array;
}

/** A model directory made usable: tokenizer, chat template, parsers. Pure once loaded. */
export interface Model {
  /** sha256 of tokenizer.json, hex. */
  readonly tokenizerDigest: string;
  /** sha256 of the chat template, hex. */
  readonly templateDigest: string;
  /** Ids that end a turn; the first is the end-of-turn id of the template. */
  readonly stopTokenIds: readonly number[];
  readonly eosTokenId: number;
  /** Most tokens of prompt and reply together. */
  readonly maxContext: number;
  /** Whether the template leaves reasoning out of earlier turns. */
  readonly stripsReasoning: boolean;
  /** Ids of a text. With `special` its special-token literals become their ids; else they stay text. */
  encode(text: string, options?: { readonly special?: boolean }): Int32Array;
  /** Text of ids, special tokens written out; an incomplete UTF-8 tail becomes U+FFFD. */
  decode(ids: ArrayLike<number>): string;
  /** Ids of a conversation from its start, generation prompt included. */
  renderRoot(messages: readonly Message[], tools: readonly ToolDefinition[]): Int32Array;
  /**
   * Ids that follow a sampled reply: what is left of the turn's close, the new messages rendered as
   * one run, and the generation prompt. None of them was sampled.
   */
  renderTurn(previous: PreviousReply, messages: readonly Message[]): Int32Array;
  /** What is left of the turn's close after these sampled ids; all of it when they do not end in it. */
  closeTurn(sampledTokenIds: Int32Array): Int32Array;
  /** Reads a reply: reasoning, text and tool calls. Total: what cannot be read stays text. */
  parseReply(sampledTokenIds: Int32Array, options?: ParseOptions): ParsedReply;
}

/** How a reply is read. */
export interface ParseOptions {
  /** The text ends before the first of these. */
  readonly stopStrings?: readonly string[];
  /** The reply was cut by the token limit. */
  readonly truncated?: boolean;
  /** The reply continues a given beginning, so no reasoning was opened by the template. */
  readonly prefilled?: boolean;
}

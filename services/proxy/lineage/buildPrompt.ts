import { assistantMessage, type ToolDefinition, textMessage } from '../../../schemas/canonical.ts';
import type { Attribution, Message, ModelCalled } from '../../../schemas/generated/events.ts';
import type { PromptRenderer } from './promptRenderer.ts';

/** Messages that follow a reply, or open a conversation. */
export interface PromptParts {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  /** The recorded call whose history is extended; null renders from the start. */
  readonly parent: ModelCalled | null;
  readonly messages: readonly Message[];
  /** Told to the policy at the end of the prompt, outside the conversation. */
  readonly notes: readonly string[];
  /** The recorded call an assistant message is the echo of. */
  recognise(message: Message): { readonly call: ModelCalled; readonly by: string } | undefined;
}

/** Ids to put after the parent's history, and how its assistant messages were known. */
export interface BuiltPrompt {
  readonly envTokenIds: Int32Array;
  readonly attribution: readonly Attribution[];
  /** An assistant message at the end that the reply is to continue; '' without one. */
  readonly prefill: string;
}

/**
 * Builds a prompt from stored ids. Between two known replies the other messages are rendered as one
 * run; a known reply stands there with the ids that were sampled, whatever the harness made of its
 * text; an unknown one is rendered like any other message.
 */
export function buildPrompt(parts: PromptParts, renderer: PromptRenderer): BuiltPrompt {
  const last = parts.messages.at(-1);
  const prefill = last?.role === 'assistant' && last.toolCalls.length === 0 ? last.content.trimEnd() : '';
  const messages = prefill === '' ? parts.messages : parts.messages.slice(0, -1);
  const pieces: Int32Array[] = [];
  const attribution: Attribution[] = [];
  let previous = parts.parent;
  let run: Message[] =
    parts.parent === null && parts.system !== '' ? [textMessage('system', parts.system)] : [];

  const flush = (): void => {
    if (previous === null) pieces.push(renderer.renderRoot(run, parts.tools));
    else pieces.push(renderer.renderTurn(answered(previous), run));
    run = [];
  };

  for (const message of messages) {
    if (message.role !== 'assistant') {
      run.push(message);
      continue;
    }
    const known = run.length > 0 ? parts.recognise(message) : undefined;
    attribution.push({ callId: known?.call.callId ?? null, by: known?.by ?? 'none' });
    if (known === undefined) {
      run.push(message);
      continue;
    }
    flush();
    pieces.push(known.call.sampledTokenIds);
    previous = known.call;
  }
  run.push(...parts.notes.map((note) => textMessage('system', note)));
  flush();
  if (prefill !== '') pieces.push(renderer.encode(prefill));
  return { envTokenIds: concat(pieces), attribution, prefill };
}

function answered(call: ModelCalled): { response: Message; sampledTokenIds: Int32Array } {
  return { response: call.response ?? assistantMessage(''), sampledTokenIds: call.sampledTokenIds };
}

/** Joins id lists. */
export function concat(pieces: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

import { digestHex } from '../../../schemas/digest.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import type { Attribution, CallContext, Message, ModelCalled } from '../../../schemas/generated/events.ts';
import { type CallNode, emptyTree } from '../../../streams/tree/callTree.ts';
import { evolve } from '../../../streams/tree/evolve.ts';
import { pathTokens } from '../../../streams/tree/pathTokens.ts';
import { buildPrompt, concat } from './buildPrompt.ts';
import type { CanonicalRequest } from './canonicalRequest.ts';
import { addReply, advance, type ConversationPoint, startPoint, walk } from './conversation.ts';
import { joinSplitTurns } from './joinSplitTurns.ts';
import { callIdsKey, contextDigestOf, plainText } from './messageKey.ts';
import type { PromptRenderer } from './promptRenderer.ts';

/** Shorter texts are equal by chance; at its own place in the conversation any text is proof. */
const shortestProof = 16;

/**
 * Why a request does not (or not wholly) extend a recorded history though something was recorded before:
 * other system text or tools, turns that are not the recorded ones, or a conversation begun (again).
 */
export type ForkReason = 'context' | 'history' | 'start';

/** What to send to the engine for a request, and what to record of it. */
export interface CallPlan {
  readonly inputIds: Int32Array;
  readonly parentCallId: string | null;
  readonly prefixTokenCount: number;
  readonly prefixDigest: string | null;
  readonly envTokenIds: Int32Array;
  readonly newMessages: readonly Message[];
  readonly attribution: readonly Attribution[];
  readonly contextDigest: string;
  readonly context: CallContext | null;
  readonly prefill: string;
  /** Tokens of the history that the template, rendering it anew, would leave out. */
  readonly templateDivergence: number;
  /** null: it extends a history, or it is the rollout's first call. */
  readonly forkReason: ForkReason | null;
}

/** The calls of one rollout attempt, and how its next request continues them. */
export interface Lineage {
  plan(request: CanonicalRequest): CallPlan;
  /** Adds a recorded call. Calls come after the call they extend. */
  record(call: ModelCalled): void;
  readonly calls: number;
  hasChildren(callId: string): boolean;
}

/** A lineage without calls. */
export function createLineage(renderer: PromptRenderer): Lineage {
  const tree = emptyTree();
  const threads = new Map<string, ConversationPoint>();
  const points = new Map<string, { after: ConversationPoint }>();
  const byIds = new Map<string, ModelCalled>();
  /** null: several replies have this text. */
  const byText = new Map<string, ModelCalled | null>();

  const recognise = (message: Message): { call: ModelCalled; by: string } | undefined => {
    const ids = callIdsKey(message.toolCalls);
    if (ids !== '') {
      const call = byIds.get(ids);
      return call === undefined ? undefined : { call, by: 'toolCallId' };
    }
    const text = plainText(message);
    const call = text.length < shortestProof ? undefined : byText.get(text);
    return call === undefined || call === null ? undefined : { call, by: 'text' };
  };

  return {
    get calls() {
      return tree.nodes.size;
    },
    hasChildren: (callId) => (tree.nodes.get(callId)?.children.length ?? 0) > 0,

    plan(received) {
      const request = { ...received, messages: joinSplitTurns(received.messages, (ids) => byIds.has(ids)) };
      const contextDigest = contextDigestOf(request.system, request.tools);
      const thread = threads.get(contextDigest);
      const known = walk(thread ?? startPoint(), request.messages);
      // An echo at the very end is a beginning to continue, so the path stops before it.
      const open = known.from === request.messages.length && known.from > 0;
      const path = open ? walk(thread!, request.messages.slice(0, known.from - 1)) : known;
      const parent = path.reply === null ? null : tree.nodes.get(path.reply.call.callId)!;
      const newMessages = request.messages.slice(path.from);
      const { system, tools, notes } = request;
      const built = buildPrompt(
        { system, tools, notes, parent: parent?.call ?? null, messages: newMessages, recognise },
        renderer,
      );
      const history = parent === null ? new Int32Array(0) : pathTokens(parent);
      const inputIds = concat([history, built.envTokenIds]);
      assertExtends(inputIds, history);
      const own = parent === null ? [] : [{ callId: parent.call.callId, by: path.by ?? 'none' }];
      return {
        inputIds,
        parentCallId: parent?.call.callId ?? null,
        prefixTokenCount: history.length,
        prefixDigest: parent === null ? null : digestHex(parent.digest),
        envTokenIds: built.envTokenIds,
        newMessages,
        attribution: [...own, ...built.attribution],
        contextDigest,
        context:
          parent === null
            ? { system, toolNames: tools.map((tool) => tool.name), tools: JSON.stringify(tools) }
            : null,
        prefill: built.prefill,
        templateDivergence: divergence(parent, newMessages, renderer),
        forkReason: forkReasonOf(tree.nodes.size, thread, parent !== null, newMessages),
      };
    },

    record(call) {
      evolve(tree, call);
      const digest = call.contextDigest ?? '';
      let from: ConversationPoint | undefined =
        call.parentCallId === null ? threads.get(digest) : points.get(call.parentCallId)?.after;
      if (from === undefined) {
        from = startPoint();
        if (call.parentCallId === null) threads.set(digest, from);
      }
      const last = call.newMessages.at(-1);
      const prefill = last?.role === 'assistant' && last.toolCalls.length === 0 ? last.content.trimEnd() : '';
      const said = prefill === '' ? call.newMessages : call.newMessages.slice(0, -1);
      const reply = addReply(advance(from, said), call, prefill);
      points.set(call.callId, reply);
      if (reply.idsKey !== '') byIds.set(reply.idsKey, call);
      else if (reply.text !== '') byText.set(reply.text, byText.has(reply.text) ? null : call);
    },
  };
}

/**
 * Templates drop the reasoning of turns before the last user message; the history keeps it. Counted
 * when a user message arrives, for the turns since the one before.
 */
function divergence(
  parent: CallNode | null,
  newMessages: readonly Message[],
  renderer: PromptRenderer,
): number {
  if (parent === null) return 0;
  let tokens = parent.call.templateDivergence;
  if (!renderer.stripsReasoning || !newMessages.some((message) => message.role === 'user')) return tokens;
  for (let node: CallNode | null = parent; node !== null; node = node.parent) {
    const reasoning = node.call.response?.reasoning ?? null;
    if (reasoning !== null) tokens += renderer.encode(`<think>\n${reasoning}\n</think>\n\n`).length;
    if (node.call.newMessages.some((message) => message.role === 'user')) break;
  }
  return tokens;
}

function forkReasonOf(
  calls: number,
  thread: ConversationPoint | undefined,
  extended: boolean,
  newMessages: readonly Message[],
): ForkReason | null {
  if (calls === 0) return null;
  const carriesTurns = newMessages.some((message) => message.role === 'assistant');
  if (extended) return carriesTurns ? 'history' : null;
  if (thread === undefined) return 'context';
  return carriesTurns ? 'history' : 'start';
}

// Cheap beside the engine, and the one thing that must never be wrong.
function assertExtends(inputIds: Int32Array, history: Int32Array): void {
  const [input, prefix] = [inputIds.subarray(0, history.length), history];
  const same =
    input.length === prefix.length &&
    Buffer.from(input.buffer, 0, prefix.byteLength).equals(
      Buffer.from(prefix.buffer, prefix.byteOffset, prefix.byteLength),
    );
  if (!same)
    throw new EspalierError('E_TREE_INVARIANT', 'a prompt does not begin with the history it extends');
}

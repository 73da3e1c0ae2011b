import type { CallContext, Message } from '../../schemas/generated/events.ts';
import type { PrefixNode, PrefixTree } from '../tree/prefixTree.ts';
import { fold, SHINGLE, shareOf, shinglesOf, wordsOf } from './text.ts';

const INSTRUCTION_SHARE = 0.8;
const RELATED_SHARE = 0.5;

/** User messages of a root before its first assistant message: where harnesses put the task. */
export function openingUserTexts(root: PrefixNode): readonly string[] {
  const texts: string[] = [];
  for (const message of root.call.newMessages) {
    if (message.role === 'assistant') break;
    if (message.role === 'user') texts.push(message.content);
  }
  return texts;
}

/**
 * Whether a root's opening carries the task instruction: as it is, white space and quotes folded, or 80% of
 * its 5-word shingles. `unknown` when there is no instruction or the recording has no messages.
 */
export function carriesInstruction(root: PrefixNode, instruction: string | null): 'yes' | 'no' | 'unknown' {
  const wanted = fold(instruction ?? '');
  if (wanted === '' || root.call.newMessages.length === 0) return 'unknown';
  const shingles = shinglesOf(wordsOf(wanted));
  const carried = openingUserTexts(root).some(
    (text) =>
      fold(text).includes(wanted) || shareOf(shingles, shinglesOf(wordsOf(text))) >= INSTRUCTION_SHARE,
  );
  return carried ? 'yes' : 'no';
}

/** Strings that the policy sampled as arguments of tool calls, innermost values, folded. */
export function argumentTexts(response: Message | null): readonly string[] {
  return (response?.toolCalls ?? []).flatMap((toolCall) => stringsIn(parsed(toolCall.arguments))).map(fold);
}

/**
 * Whether a root's task text was sampled as an argument of an earlier tool call, alone or with a wrapping of
 * the harness: it is a sub-agent's. A mere quote from the instruction proves nothing.
 */
export function taskWasSampled(
  root: PrefixNode,
  earlierArguments: readonly string[],
  instruction: string | null,
): boolean {
  const task = fold(instruction ?? '');
  return openingUserTexts(root).some((text) => {
    const opening = fold(text);
    return (
      opening !== '' &&
      earlierArguments.some((argument) => {
        if (argument === opening) return true;
        const quote = argument !== task && task.includes(argument);
        return (
          (long(argument) && !quote && opening.includes(argument)) ||
          (long(opening) && argument.includes(opening))
        );
      })
    );
  });
}

/** System text and tools of a call, from its own context or another's with the same digest. */
export function contextLookup(tree: PrefixTree): (node: PrefixNode) => CallContext | null {
  const byDigest = new Map<string, CallContext>();
  for (const { call } of tree.nodes) {
    if (call.context !== null && call.contextDigest !== null) byDigest.set(call.contextDigest, call.context);
  }
  return ({ call }) => call.context ?? byDigest.get(call.contextDigest ?? '') ?? null;
}

/** System prompt of a root: as its context has it, else its system messages before the first user message. */
export function systemText(root: PrefixNode, context: CallContext | null): string {
  if (context !== null && context.system !== '') return context.system;
  const texts: string[] = [];
  for (const { role, content } of root.call.newMessages) {
    if (role !== 'system' && role !== 'developer') break;
    texts.push(content);
  }
  return texts.join('\n');
}

/** A text as it is compared with others. */
export interface TextProfile {
  readonly words: readonly string[];
  readonly shingles: ReadonlySet<string>;
}

/** Words and shingles of a text. */
export function profileOf(text: string): TextProfile {
  const words = wordsOf(text);
  return { words, shingles: shinglesOf(words) };
}

/** Whether two threads may be one by their system prompts. What is not known speaks for it. */
export function relatedTexts(a: TextProfile, b: TextProfile): boolean {
  const size = Math.min(SHINGLE, a.words.length, b.words.length);
  if (size === 0) return true;
  const [left, right] = [a, b].map(({ words, shingles }) =>
    size === SHINGLE ? shingles : shinglesOf(words, size),
  ) as [ReadonlySet<string>, ReadonlySet<string>];
  return Math.max(shareOf(left, right), shareOf(right, left)) >= RELATED_SHARE;
}

const long = (text: string): boolean => wordsOf(text).length >= SHINGLE;

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/** Arguments that are no JSON are one string: a malformed call was sampled all the same. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

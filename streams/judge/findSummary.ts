import type { PrefixNode } from '../tree/prefixTree.ts';
import { shareOf, shinglesOf, visibleText, wordsOf } from './text.ts';

const SUMMARY_SHARE = 0.6;
const SUMMARY_WORDS = 12;

/**
 * The call whose reply a later root was compacted to: without tool calls, extended by no call, and 60% of
 * the 5-word shingles of its visible text (12 words or more) stand in that root's messages. Arguments of
 * tool calls and tool results never count: sub-agent prompts and answers reappear there and are no
 * summaries. Of several the latest is taken: a kept last answer reappears too, but was written before.
 *
 * @param earlier calls before the root, in call order
 * @param summaryOf `summaryShingles`, or the same remembered
 */
export function findSummary(
  root: PrefixNode,
  earlier: readonly PrefixNode[],
  summaryOf: (node: PrefixNode) => ReadonlySet<string> | null = summaryShingles,
): PrefixNode | null {
  const messages = root.call.newMessages.filter((message) => message.role !== 'tool');
  if (messages.length === 0) return null;
  let opening: ReadonlySet<string> | null = null;
  for (const candidate of earlier.toReversed()) {
    const summary = summaryOf(candidate);
    if (summary === null) continue;
    opening ??= shinglesOf(wordsOf(messages.map((message) => message.content).join('\n')));
    if (shareOf(summary, opening) >= SUMMARY_SHARE) return candidate;
  }
  return null;
}

/** Shingles of a reply that may be a summary; null when it cannot be one. */
export function summaryShingles({ call, children }: PrefixNode): ReadonlySet<string> | null {
  if (call.response === null || call.response.toolCalls.length > 0 || children.length > 0) return null;
  const words = wordsOf(visibleText(call.response.content));
  return words.length < SUMMARY_WORDS ? null : shinglesOf(words);
}

import { readHermesCalls, type WrittenCall } from './hermesCalls.ts';
import { splitReasoning } from './reasoning.ts';

/** A reply as the harness is to see it. */
export interface ParsedReply {
  readonly reasoning: string | null;
  readonly content: string;
  readonly toolCalls: readonly WrittenCall[];
  /** The stop string that cut the text, if one did. */
  readonly stopString: string | null;
}

/**
 * Reads the text of a reply. Reasoning comes off first, then the text is cut at the first stop
 * string, then tool calls are read.
 * @param opensReasoning the prompt opened a `<think>` block
 * @param finished the policy ended its turn (no cut by the token limit)
 */
export function parseReply(
  text: string,
  opensReasoning: boolean,
  finished: boolean,
  stopStrings: readonly string[],
): ParsedReply {
  const { reasoning, text: visible } = splitReasoning(text, opensReasoning);
  const stop = findStop(visible, stopStrings);
  const kept = stop === undefined ? visible : visible.slice(0, stop.at);
  const { text: content, calls } = readHermesCalls(kept, finished && stop === undefined);
  return { reasoning, content, toolCalls: calls, stopString: stop?.text ?? null };
}

/** The earliest stop string in a text. */
function findStop(text: string, stopStrings: readonly string[]): { at: number; text: string } | undefined {
  let first: { at: number; text: string } | undefined;
  for (const stop of stopStrings) {
    const at = stop === '' ? -1 : text.indexOf(stop);
    if (at >= 0 && (first === undefined || at < first.at)) first = { at, text: stop };
  }
  return first;
}

// One random conversation as ids, with the spans the policy is to imitate.

import { below, pick, type Rng } from '../rng.ts';
import { readContext } from '../sampleReply.ts';
import type { TinyChat } from '../tinyChat.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { RESULT_WORD, USER_WORD } from '../wordSources.ts';
import { callText, randomResult, randomSentence, randomTools, randomWord } from './traces.ts';

export interface Trace {
  readonly ids: number[];
  /** [start, end) of each reply in `ids`. */
  readonly replies: ReadonlyArray<readonly [number, number]>;
}

const TITLE_REQUESTS = ['Write a title for', 'A short title, please, for', 'Give this conversation a title'];
const SUMMARY_REQUESTS = [
  'Write a summary of',
  'Summarize',
  'Please summarize the conversation so far',
  'summary of',
];

/** Draws a conversation: mostly an agent at work, sometimes a request for a title or a summary. */
export function randomConversation(rng: Rng, chat: TinyChat, vocabulary: Vocabulary): Trace {
  const kind = rng();
  if (kind < 0.06) return utility(rng, chat, vocabulary, TITLE_REQUESTS, 2, 5);
  if (kind < 0.14) return utility(rng, chat, vocabulary, SUMMARY_REQUESTS, 16, 22);
  const tools = randomTools(rng);
  const system = rng() < 0.8 ? [{ role: 'system' as const, content: randomSentence(rng, 3, 12) }] : [];
  const messages = [...system, { role: 'user' as const, content: randomSentence(rng, 2, 14) }];
  const ids = chat.prompt(messages, tools);
  const replies: Array<[number, number]> = [];
  for (let turn = 1 + below(rng, 5); turn > 0; turn--) {
    const ends = rng() < 0.06;
    const seen = ends ? [] : wordsSoFar(vocabulary, ids);
    pushReply(rng, chat, vocabulary, ids, replies, ends ? plainText(rng, 1, 6) : callText(rng, tools, seen));
    if (ends) break;
    const results = rng() < 0.93 ? 1 : 2;
    let turnText = '\n<|im_start|>user';
    for (let i = 0; i < results; i++) turnText += `\n<tool_response>\n${randomResult(rng)}\n</tool_response>`;
    ids.push(...chat.encode(`${turnText}<|im_end|>\n<|im_start|>assistant\n`));
  }
  return { ids, replies };
}

function utility(
  rng: Rng,
  chat: TinyChat,
  vocabulary: Vocabulary,
  requests: readonly string[],
  min: number,
  max: number,
): Trace {
  // Asked for by the user, or by a system message that comes without tools.
  const request = pick(rng, requests);
  const filler = randomSentence(rng, 1, 12);
  const bySystem = requests === TITLE_REQUESTS && rng() < 0.5;
  const tools = !bySystem && rng() < 0.5 ? randomTools(rng) : [];
  const system = bySystem ? request : rng() < 0.5 ? randomSentence(rng, 3, 8) : null;
  const ids = chat.prompt(
    [
      ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user', content: bySystem ? filler : `${request} ${filler}` },
    ],
    tools,
  );
  const replies: Array<[number, number]> = [];
  pushReply(rng, chat, vocabulary, ids, replies, plainText(rng, min, max));
  return { ids, replies };
}

function plainText(rng: Rng, min: number, max: number): string {
  return Array.from({ length: min + below(rng, max - min + 1) }, () => randomWord(rng)).join(' ');
}

function pushReply(
  rng: Rng,
  chat: TinyChat,
  vocabulary: Vocabulary,
  ids: number[],
  replies: Array<[number, number]>,
  text: string,
): void {
  const start = ids.length;
  ids.push(...resegment(rng, vocabulary, chat.encode(text)), vocabulary.turnEnd);
  replies.push([start, ids.length]);
}

/** Now and then a token is spelled as its bytes: the policy may write one text in several ways. */
function resegment(rng: Rng, vocabulary: Vocabulary, ids: readonly number[]): number[] {
  return ids.flatMap((id) => (rng() < 0.01 ? [...(vocabulary.bytes[id] as Uint8Array)] : [id]));
}

function wordsSoFar(vocabulary: Vocabulary, ids: readonly number[]): string[] {
  const { sources, text } = readContext(vocabulary, ids);
  return sources
    .filter(({ role }) => role === USER_WORD || role === RESULT_WORD)
    .map(({ start, end }) => Buffer.from(text.bytes.subarray(start, end)).toString('utf8'));
}

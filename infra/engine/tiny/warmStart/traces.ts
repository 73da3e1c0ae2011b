// Random conversations in the format the policy is to speak, and nothing else.
//
// What they teach: how a tool call is spelled, that its name and its parameters come from the tool signatures, that
// a value is some word (made up, or taken from the conversation), that the value of `path` is more often than not a
// file name, that a reply ends, that a title is a few words and a summary a longer text.
//
// What they cannot teach: which tool, which word, in which order. Tools are drawn uniformly from those listed. Words
// are nonsense. A copied word is drawn uniformly from all words of the user's messages and tool results so far (for
// `path`, mostly from those with a dot). Results are unrelated to the calls, and no reward is involved. Moreover the
// weights that make a choice depend on what happened before, or on what stands around a word, are left at zero by
// the warm start (FIRST_CHOICE_ROW, FIRST_CHOICE_COPY). No text, file or word of any task stands here.

import { below, pick, type Rng } from '../rng.ts';
import type { ChatTool } from '../tinyChat.ts';
import { CONSONANTS, nonsenseWord, VOWELS } from '../vocabulary/corpus.ts';

const EXTENSIONS = ['txt', 'md', 'json', 'log', 'csv'];
const SYMBOLS = [...CONSONANTS, ...VOWELS, 'w', 'c', 'h', 'y'];

/** A made-up word: mostly syllables, sometimes any letters, so that no spelling is favoured. */
export function randomWord(rng: Rng): string {
  if (rng() < 0.7) return nonsenseWord(rng, 1 + below(rng, 3));
  let out = '';
  for (let i = 2 + below(rng, 5); i > 0; i--) out += pick(rng, SYMBOLS);
  return out;
}

export function randomFileName(rng: Rng): string {
  return `${randomWord(rng)}.${pick(rng, EXTENSIONS)}`;
}

function anyWord(rng: Rng): string {
  const word = rng() < 0.2 ? randomFileName(rng) : randomWord(rng);
  return rng() < 0.15 ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}

/** Several words with random punctuation. */
export function randomSentence(rng: Rng, min: number, max: number): string {
  const words: string[] = [];
  for (let i = min + below(rng, max - min + 1); i > 0; i--)
    words.push(anyWord(rng) + (rng() < 0.1 ? ',' : ''));
  return words.join(' ') + pick(rng, ['.', '.', '', '?', ':']);
}

/** A tool result in one of several layouts, filled with nonsense. */
export function randomResult(rng: Rng): string {
  const word = () => anyWord(rng);
  const lines = (line: () => string) => Array.from({ length: 1 + below(rng, 5) }, line).join('\n');
  switch (below(rng, 7)) {
    case 0:
      return word();
    case 1:
      return lines(() => `${word()}: ${word()}`);
    case 2:
      return lines(word);
    case 3:
      return lines(() => `${word()} = ${word()}`);
    case 4:
      return `${word()} ${pick(rng, ['error', 'failed', 'missing', 'written', 'ready'])}: ${randomSentence(rng, 1, 4)}`;
    case 5:
      return lines(() => `${word()}, ${word()}, ${word()}`);
    default:
      return randomSentence(rng, 2, 10);
  }
}

const tool = (name: string, keys: readonly string[], describe: () => string): ChatTool => ({
  type: 'function',
  function: {
    name,
    description: describe(),
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        keys.map((key) => [
          key,
          { type: 'string', ...(describe().length % 2 ? { description: describe() } : {}) },
        ]),
      ),
      required: keys,
    },
  },
});

const COMMON_TOOLS: ReadonlyArray<readonly [string, readonly string[]]> = [
  ['read_file', ['path']],
  ['write_file', ['path', 'content']],
  ['shell', ['command']],
  ['delegate', ['prompt']],
];

/** A list of tools: usual ones in random order, or made-up ones with made-up parameters. */
export function randomTools(rng: Rng): ChatTool[] {
  const describe = () => randomSentence(rng, 2, 5);
  const chosen: ChatTool[] = [];
  const common = rng() < 0.88;
  if (common) {
    for (const [name, keys] of COMMON_TOOLS) {
      if (rng() < 0.9) chosen.splice(below(rng, chosen.length + 1), 0, tool(name, keys, describe));
    }
  }
  const extra = common ? (rng() < 0.15 ? 1 : 0) : 1 + below(rng, 4);
  for (let i = 0; i < extra; i++) {
    const name = rng() < 0.5 ? randomWord(rng) : `${randomWord(rng)}_${randomWord(rng)}`;
    const keys = [...new Set(Array.from({ length: 1 + below(rng, 3) }, () => randomWord(rng)))];
    chosen.splice(below(rng, chosen.length + 1), 0, tool(name, keys, describe));
  }
  return chosen.length > 0 ? chosen : [tool('shell', ['command'], describe)];
}

const SEVERAL_WORDS = new Set(['command', 'prompt', 'content']);

/** Share of values (of words, in longer values) taken from the conversation rather than made up. */
const COPIED = 0.92;
/** Share of copied paths that are drawn from the words with a dot only. */
const FILE_LIKE = 0.8;

/** A value for a parameter: words made up or drawn from `seen`, the words of the conversation so far. */
export function randomValue(rng: Rng, key: string, seen: readonly string[]): string {
  const one = () => {
    const from = key === 'path' && rng() < FILE_LIKE ? seen.filter((word) => word.includes('.')) : seen;
    if (from.length > 0 && rng() < COPIED) return pick(rng, from);
    return key === 'path' ? randomFileName(rng) : anyWord(rng);
  };
  const many = SEVERAL_WORDS.has(key) && rng() < (key === 'content' ? 0.08 : 0.6);
  return Array.from({ length: many ? 2 + below(rng, 3) : 1 }, one).join(' ');
}

/** The text of one call in the format of the chat template. */
export function callText(rng: Rng, tools: readonly ChatTool[], seen: readonly string[]): string {
  const { name, parameters } = pick(rng, tools).function;
  const args = parameters.required.map(
    (key) => `${JSON.stringify(key)}: ${JSON.stringify(randomValue(rng, key, seen))}`,
  );
  return `<tool_call>\n{"name": "${name}", "arguments": {${args.join(', ')}}}\n</tool_call>`;
}

// Text is compared by its words, so that markup, line breaks and quotes that a harness adds do not count.

const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+/gu;
const QUOTES = /["'`\u00ab\u00bb\u2018\u2019\u201c\u201d]/gu;
const SPACE = /\s+/gu;
const HIDDEN_BLOCK = /<(think|thinking|reasoning|analysis)>[\s\S]*?(?:<\/\1>|$)/giu;
const TAG = /<\/?[a-z][^<>]*>/giu;

/** Words per shingle. */
export const SHINGLE = 5;

/** Lower-case words; each ideograph or kana is a word. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** Text with quotes removed and white space folded. */
export function fold(text: string): string {
  return text.replace(QUOTES, '').replace(SPACE, ' ').trim();
}

/** What a reader sees of a reply: no reasoning or analysis blocks, no tags. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_BLOCK, ' ').replace(TAG, ' ');
}

/** All runs of `size` words. */
export function shinglesOf(words: readonly string[], size: number = SHINGLE): ReadonlySet<string> {
  const shingles = new Set<string>();
  for (let i = 0; i + size <= words.length; i++) shingles.add(words.slice(i, i + size).join(' '));
  return shingles;
}

/** Which share of the first set, 0 to 1, is in the second. An empty set shares nothing. */
export function shareOf(part: ReadonlySet<string>, whole: ReadonlySet<string>): number {
  let found = 0;
  for (const shingle of part) if (whole.has(shingle)) found++;
  return part.size === 0 ? 0 : found / part.size;
}

const ids = new Map<string, number>();
const words: string[] = [];

/** Token ids of text, one for each word: tests read and write tokens as words. */
export function encode(text: string): Int32Array {
  return Int32Array.from(text.split(/\s+/u).filter(Boolean), (word) => {
    let id = ids.get(word);
    if (id === undefined) {
      id = words.push(word) - 1;
      ids.set(word, id);
    }
    return id;
  });
}

/** The words of token ids. */
export function decode(tokens: Int32Array): readonly string[] {
  return Array.from(tokens, (id) => words[id] ?? `?${id}`);
}

/** Words with the trained ones in brackets, a pair of brackets for each run of them. */
export function inBrackets(tokens: Int32Array, mask: ArrayLike<number | boolean>): string {
  return decode(tokens)
    .map((word, i) => {
      const open = mask[i] && !mask[i - 1] ? '[' : '';
      const close = mask[i] && !mask[i + 1] ? ']' : '';
      return open + word + close;
    })
    .join(' ');
}

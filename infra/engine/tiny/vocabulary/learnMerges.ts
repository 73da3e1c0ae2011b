// Byte-level BPE, learned by counting: the textbook algorithm on a small corpus.

/** Pieces a merge never crosses: words (with underscores), single digits, runs of anything else. */
export const PIECE_PATTERN = '[A-Za-z_]+|[0-9]|[^A-Za-z0-9_]+';

/**
 * Printable stand-ins for the 256 bytes, in the convention of byte-level BPE files: printable Latin-1 stands for
 * itself, every other byte for a code point from 256 on.
 */
export function byteAlphabet(): string[] {
  const out: string[] = new Array(256).fill('');
  let next = 256;
  for (let b = 0; b < 256; b++) {
    const printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    out[b] = String.fromCodePoint(printable ? b : next++);
  }
  return out;
}

/**
 * Learns `count` merges from `corpus`. Ties are broken by text, so the result depends on the corpus alone.
 * Returns pairs in order of rank, spelled in the byte alphabet.
 */
export function learnMerges(corpus: string, count: number): Array<[string, string]> {
  const alphabet = byteAlphabet();
  const pieces = new Map<string, number>();
  for (const piece of corpus.match(new RegExp(PIECE_PATTERN, 'g')) ?? []) {
    pieces.set(piece, (pieces.get(piece) ?? 0) + 1);
  }
  const words = [...pieces].map(([piece, times]) => ({
    symbols: [...new TextEncoder().encode(piece)].map((b) => alphabet[b] as string),
    times,
  }));
  const merges: Array<[string, string]> = [];
  while (merges.length < count) {
    const best = mostFrequentPair(words);
    if (best === null) break;
    merges.push(best);
    for (const word of words) word.symbols = applyMerge(word.symbols, best);
  }
  return merges;
}

function mostFrequentPair(
  words: ReadonlyArray<{ symbols: string[]; times: number }>,
): [string, string] | null {
  const counts = new Map<string, number>();
  for (const { symbols, times } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const key = `${symbols[i]} ${symbols[i + 1]}`;
      counts.set(key, (counts.get(key) ?? 0) + times);
    }
  }
  let best: string | null = null;
  let bestCount = 1;
  for (const [key, n] of counts) {
    if (n > bestCount || (n === bestCount && best !== null && key < best)) {
      best = key;
      bestCount = n;
    }
  }
  return best === null ? null : (best.split(' ') as [string, string]);
}

function applyMerge(symbols: readonly string[], [left, right]: readonly [string, string]): string[] {
  const out: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      out.push(left + right);
      i++;
    } else {
      out.push(symbols[i] as string);
    }
  }
  return out;
}

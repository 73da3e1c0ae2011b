// What the policy needs to know of its tokens: the bytes of each, and which ones open and close a turn.
import { readFileSync } from 'node:fs';
import { byteAlphabet } from './vocabulary/learnMerges.ts';

/** The model directory that ships with the package. */
export const TINY_MODEL_DIR = new URL('./model/', import.meta.url);

export interface Vocabulary {
  /** Ids are 0 .. size-1. */
  readonly size: number;
  /** Bytes each id stands for; empty for special tokens. */
  readonly bytes: readonly Uint8Array[];
  readonly turnStart: number;
  readonly turnEnd: number;
}

/** Reads tokenizer.json of a model directory (default: the one that ships). Throws when a turn marker is missing. */
export function loadVocabulary(dir: URL = TINY_MODEL_DIR): Vocabulary {
  const file = JSON.parse(readFileSync(new URL('tokenizer.json', dir), 'utf8')) as {
    added_tokens: Array<{ id: number; content: string }>;
    model: { vocab: Record<string, number> };
  };
  const byteOf = new Map(byteAlphabet().map((symbol, byte) => [symbol, byte]));
  const bytes: Uint8Array[] = [];
  for (const [symbols, id] of Object.entries(file.model.vocab)) {
    bytes[id] = Uint8Array.from([...symbols], (symbol) => byteOf.get(symbol) as number);
  }
  const special = new Map<string, number>();
  for (const { id, content } of file.added_tokens) {
    bytes[id] = new Uint8Array(0);
    special.set(content, id);
  }
  const idOf = (content: string): number => {
    const id = special.get(content);
    if (id === undefined) throw new Error(`tokenizer.json has no ${content} token`);
    return id;
  };
  return { size: bytes.length, bytes, turnStart: idOf('<|im_start|>'), turnEnd: idOf('<|im_end|>') };
}

/** The text of some ids: special tokens print nothing, broken UTF-8 becomes U+FFFD. */
export function decodeIds(vocabulary: Vocabulary, ids: ArrayLike<number>): string {
  const parts: Uint8Array[] = [];
  for (let i = 0; i < ids.length; i++) parts.push(vocabulary.bytes[ids[i] as number] as Uint8Array);
  return Buffer.concat(parts).toString('utf8');
}

import { Tokenizer } from '@huggingface/tokenizers';

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
}

/** The parts of tokenizer.json that are read here. */
export interface TokenizerJson {
  readonly added_tokens?: readonly AddedToken[];
}

/** A character that no exchanged text may contain (a Unicode noncharacter): it marks a literal as text. */
export const LITERAL_MARK = '\u{FDD0}';

/** Text to ids and back. */
export interface TextCodec {
  encode(text: string, special: boolean): Int32Array;
  decode(ids: ArrayLike<number>): string;
  /** Puts a mark inside every special-token literal, so that encoding keeps it as text. */
  guard(text: string): string;
  idOf(special: string): number | undefined;
  isSpecial(id: number): boolean;
}

/**
 * A codec over tokenizer.json. The text is cut at special tokens here, and the pieces are encoded by
 * a tokenizer that knows none, so a literal that came from outside can never become a special id.
 */
export function loadTokenizer(json: TokenizerJson, config: object): TextCodec {
  const added = json.added_tokens ?? [];
  const specials = new Map(added.filter((token) => token.special).map((token) => [token.content, token]));
  const settings = { ...config, clean_up_tokenization_spaces: false };
  const plain = new Tokenizer({ ...json, added_tokens: added.filter((token) => !token.special) }, settings);
  const whole = new Tokenizer(json, settings);
  const literals = [...specials.keys()].sort((a, b) => b.length - a.length);
  const pattern = literals.length > 0 ? new RegExp(literals.map(escapeRegExp).join('|'), 'gu') : undefined;
  const specialIds = new Set([...specials.values()].map((token) => token.id));

  function encodePlain(text: string, out: number[]): void {
    if (text === '') return;
    const { ids }: { readonly ids: readonly number[] } = plain.encode(text, { add_special_tokens: false });
    if (!ids.some((id) => specialIds.has(id)) || pattern === undefined) {
      for (const id of ids) out.push(id);
      return;
    }
    // Some vocabularies hold their special tokens as ordinary entries too: cut the literal in two.
    const match = text.match(new RegExp(pattern.source, 'u'));
    const cut = match?.index === undefined ? 0 : match.index + [...match[0]][0]!.length;
    if (cut === 0 || cut >= text.length) return;
    encodePlain(text.slice(0, cut), out);
    encodePlain(text.slice(cut), out);
  }

  return {
    encode(text, special) {
      const out: number[] = [];
      const unmarked = (piece: string): string => piece.replaceAll(LITERAL_MARK, '');
      let from = 0;
      let trimStart = false;
      if (special && pattern !== undefined) {
        for (const match of text.matchAll(pattern)) {
          const token = specials.get(match[0])!;
          let piece = text.slice(from, match.index);
          if (trimStart) piece = piece.trimStart();
          if (token.lstrip) piece = piece.trimEnd();
          encodePlain(unmarked(piece), out);
          out.push(token.id);
          from = match.index + match[0].length;
          trimStart = token.rstrip === true;
        }
      }
      const rest = text.slice(from);
      encodePlain(unmarked(trimStart ? rest.trimStart() : rest), out);
      return Int32Array.from(out);
    },
    decode(ids) {
      if (ids.length === 0) return '';
      return whole.decode(Array.from(ids), {
        skip_special_tokens: false,
        clean_up_tokenization_spaces: false,
      });
    },
    guard(text) {
      const clean = text.includes(LITERAL_MARK) ? text.replaceAll(LITERAL_MARK, '\u{FFFD}') : text;
      if (pattern === undefined) return clean;
      return clean.replace(pattern, (literal) => {
        const head = [...literal][0]!;
        return head + LITERAL_MARK + literal.slice(head.length);
      });
    },
    isSpecial: (id) => specialIds.has(id),
    idOf: (special) => specials.get(special)?.id ?? whole.token_to_id(special),
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/gu, '\\$&');
}

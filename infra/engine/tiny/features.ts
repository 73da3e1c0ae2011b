// The features of one state, as indices into the weights.
//
// Three groups: `rows` (each row holds one weight per token of the vocabulary), `copies` (one entry per word of the
// conversation that the text written so far could be the beginning of: the token that would come next, and its
// weights) and `critic`. What a copy entry is scored by is where the word stands, never which letters it has, so
// what is learned about copying holds for words not seen before.
import { byteClass, mix } from './byteClass.ts';
import type { ContextState } from './contextState.ts';
import { AFTER, JSON_BODY, TEXT } from './replyScanner.ts';
import { PARAMETER, RESULT_WORD, TOOL_NAME, USER_WORD, type WordSource } from './wordSources.ts';

/**
 * Rows are hashed inside four regions, so that the many n-grams cannot disturb the few decisions. The last one holds
 * what is to be learned from rewards only: how the choice of a tool depends on what has happened so far.
 */
const FORM_ROWS = 384;
const SYNTAX_ROWS = 256;
const NGRAM_ROWS = 256;
const CHOICE_ROWS = 128;
export const ROWS = FORM_ROWS + SYNTAX_ROWS + NGRAM_ROWS + CHOICE_ROWS;
/** From here on rows are choices: the warm start leaves them at zero. */
export const FIRST_CHOICE_ROW = ROWS - CHOICE_ROWS;
/** Copy weights, too, have a second region for choices: which tool, and which surroundings of a word matter. */
const COPY_FORM_WEIGHTS = 4096;
export const COPY_WEIGHTS = 8192;
export const FIRST_CHOICE_COPY = COPY_FORM_WEIGHTS;
export const CRITIC_WEIGHTS = 4096;
/** Weights of one copy entry. */
export const COPY_FEATURES = 6;

/** Where words can be written. */
const IN_TEXT = 1;
const IN_NAME = 2;
const IN_KEY = 3;
const IN_VALUE = 4;
const IN_SYNTAX = 0;

/** The features of one state. */
export interface FeatureSet {
  readonly rows: ArrayLike<number>;
  /** Token each copy entry proposes, and COPY_FEATURES weight indices for each, flat. */
  readonly copyTokens: ArrayLike<number>;
  readonly copyIndices: ArrayLike<number>;
  readonly critic: ArrayLike<number>;
}

/** A FeatureSet that is filled again for each state. */
export class Features implements FeatureSet {
  rows: number[] = [];
  copyTokens: number[] = [];
  copyIndices: number[] = [];
  critic: number[] = [];

  /** Fills the three groups from a state that stands inside an assistant turn. */
  collect(state: ContextState): void {
    this.rows.length = 0;
    this.copyTokens.length = 0;
    this.copyIndices.length = 0;
    const place = placeOf(state);
    const ends = this.collectCopies(state, place);
    this.collectRows(state, place, ends);
  }

  private row(kind: number, ...parts: number[]): void {
    let hash = kind;
    for (const part of parts) hash = mix(hash, part);
    this.rows.push((hash >>> 0) % FORM_ROWS);
  }

  private syntaxRow(kind: number, hash: number, part: number): void {
    this.rows.push(FORM_ROWS + ((mix(mix(kind, hash), part) >>> 0) % SYNTAX_ROWS));
  }

  private choiceRow(kind: number, point: number, a: number, b: number): void {
    this.rows.push(FIRST_CHOICE_ROW + ((mix(mix(mix(kind, point), a), b) >>> 0) % CHOICE_ROWS));
  }

  private ngramRow(kind: number, hash: number, ...tokens: number[]): void {
    let h = mix(kind, hash);
    for (const token of tokens) h = mix(h, token);
    this.rows.push(FORM_ROWS + SYNTAX_ROWS + ((h >>> 0) % NGRAM_ROWS));
  }

  private collectRows(state: ContextState, place: number, ends: number): void {
    const { reply } = state;
    const syntax = syntaxHash(state, place);
    const wordBytes = reply.length - reply.wordStart;
    const free = place !== IN_SYNTAX;
    this.row(1, place, reply.phase, Math.max(-1, Math.min(reply.depth, 3)));
    this.row(2, place, free ? 0 : reply.tail, (reply.inString ? 2 : 0) + (reply.isKey ? 1 : 0));
    this.syntaxRow(3, syntax, wordBytes > 0 ? 1 : 0);
    this.ngramRow(4, place, state.lastToken);
    if (!free) this.ngramRow(4, reply.phase, state.lastToken, state.previousToken);
    if (place !== IN_SYNTAX) {
      this.row(5, place, Math.min(state.wordTokens, 4), lastClass(state));
      this.row(6, place, Math.min(reply.words, place === IN_TEXT ? 24 : 3), wordBytes > 0 ? 1 : 0);
      if (wordBytes > 0) this.row(7, place, ends);
    }
    const start = reply.length === 0;
    if (start || (place === IN_NAME && wordBytes === 0)) {
      const point = start ? 1 : 2;
      this.choiceRow(8, point, state.lastTool, state.toolBefore);
      this.choiceRow(9, point, state.lastTool, state.lastResult);
      this.choiceRow(10, point, Math.min(state.assistantTurns, 4), state.lastRole);
    }
    if (start || reply.phase === TEXT) {
      const words = Math.min(reply.words, 24);
      this.row(11, state.request, state.hasTools ? 1 : 0, words, wordBytes > 0 ? 1 : 0);
    }
    if (reply.phase === JSON_BODY && !reply.inString && reply.depth >= 2) {
      this.row(12, unusedKeys(state), reply.isKey ? 1 : 0, reply.tail);
    }
  }

  /** Adds a copy entry for each word that can go on; returns how the words that match so far end (a small code). */
  private collectCopies(state: ContextState, place: number): number {
    if (place === IN_SYNTAX) return 0;
    const { text, reply } = state;
    const from = state.replyStart + reply.wordStart;
    const size = text.length - from;
    const query = queryHash(state, place);
    let going = 0;
    let complete = 0;
    for (const source of state.sources) {
      if (!fits(source, place, state)) continue;
      if (!startsWith(text.bytes, source.start, from, size)) continue;
      if (source.start + size >= source.end) {
        if (size > 0) complete++;
        continue;
      }
      const token = text.tokenAt[source.start + size] as number;
      if (token < 0) continue;
      going++;
      this.pushCopy(state, source, query, place, size, token);
    }
    return (complete > 0 ? 2 : 0) + (going > 0 ? 1 : 0);
  }

  private pushCopy(
    state: ContextState,
    source: WordSource,
    query: number,
    place: number,
    size: number,
    token: number,
  ): void {
    this.copyTokens.push(token);
    const q = mix(query, 77);
    const started = size > 0 ? 1 : 0;
    this.copy(1, place, started, started === 0 ? query : 0);
    if (place === IN_NAME) {
      this.choice(2, q, mix(state.lastTool, state.toolBefore), source.hash);
      this.choice(3, q, mix(state.lastTool, state.lastResult), source.hash);
      this.choice(4, q, mix(Math.min(state.assistantTurns, 4), state.lastRole), source.hash);
      this.choice(5, q, source.hash, 0);
      this.copy(6, q, started, 0);
    } else if (place === IN_KEY) {
      const used = state.usedKeys.includes(source.hash) ? 1 : 0;
      this.copy(2, q, used, started);
      this.copy(3, q, used, source.hash);
      this.copy(4, q, source.owner, source.hash);
      this.copy(5, q, mix(used, state.usedKeys.length), source.gap);
      this.copy(6, q, 0, 0);
    } else {
      const age = Math.min(state.message - source.message, 3);
      this.copy(2, q, mix(source.role, age), 0);
      this.choice(3, q, source.before, source.gap);
      this.choice(4, q, mix(source.role, source.gap), 0);
      this.copy(5, q, source.shape, source.role);
      this.choice(6, place, source.before, source.role);
    }
  }

  private copy(kind: number, a: number, b: number, c: number): void {
    const hash = mix(mix(mix(kind, a), b), c);
    this.copyIndices.push((hash >>> 0) % COPY_FORM_WEIGHTS);
  }

  private choice(kind: number, a: number, b: number, c: number): void {
    const hash = mix(mix(mix(kind, a), b), c);
    this.copyIndices.push(FIRST_CHOICE_COPY + ((hash >>> 0) % (COPY_WEIGHTS - FIRST_CHOICE_COPY)));
  }

  /** Fills `critic` only: features of how far the task has come, for the value of the state. */
  collectCritic(state: ContextState): void {
    const { reply } = state;
    const out = this.critic;
    out.length = 0;
    const add = (kind: number, a: number, b: number) =>
      out.push((mix(mix(kind, a), b) >>> 0) % CRITIC_WEIGHTS);
    const turns = Math.min(state.assistantTurns, 8);
    const inCall = reply.phase === JSON_BODY ? reply.tool : reply.phase === AFTER ? 2 : 1;
    add(1, 0, 0);
    add(2, state.lastTool, state.toolBefore);
    add(3, turns, 0);
    add(4, state.lastTool, state.lastResult);
    add(5, mix(state.lastTool, state.toolBefore), inCall);
    add(6, mix(inCall, reply.lastKey), reply.inString ? 1 : 0);
    add(7, mix(inCall, state.lastTool), sourceOfWord(state));
    add(8, mix(inCall, reply.lastKey), sourceOfWord(state));
  }
}

function placeOf({ reply }: ContextState): number {
  if (reply.phase !== JSON_BODY) return reply.free ? IN_TEXT : IN_SYNTAX;
  if (!reply.inString) return IN_SYNTAX;
  if (reply.depth >= 2) return reply.isKey ? IN_KEY : IN_VALUE;
  return !reply.isKey && reply.tool === 0 && reply.depth === 1 ? IN_NAME : IN_SYNTAX;
}

/** The exact place in the syntax; inside freely written words only the key and the tool count. */
function syntaxHash(state: ContextState, place: number): number {
  const { reply } = state;
  let hash = mix(place, reply.phase);
  hash = mix(hash, Math.max(-1, Math.min(reply.depth, 3)));
  hash = mix(hash, (reply.inString ? 2 : 0) + (reply.isKey ? 1 : 0));
  hash = mix(hash, reply.lastKey);
  hash = mix(hash, reply.depth >= 2 || place === IN_VALUE ? reply.tool : 0);
  return place === IN_VALUE || place === IN_NAME || place === IN_TEXT ? hash : mix(hash, reply.tail);
}

function queryHash(state: ContextState, place: number): number {
  const { reply } = state;
  if (place === IN_VALUE) return mix(mix(reply.tool, reply.lastKey), Math.min(reply.words, 2));
  if (place === IN_TEXT) return mix(place, state.request);
  return place;
}

function fits(source: WordSource, place: number, state: ContextState): boolean {
  if (place === IN_NAME) return source.role === TOOL_NAME;
  if (place === IN_KEY) return source.role === PARAMETER && source.owner === state.reply.tool;
  return source.role === USER_WORD || source.role === RESULT_WORD;
}

function startsWith(bytes: Uint8Array, at: number, word: number, size: number): boolean {
  for (let i = 0; i < size; i++) if (bytes[at + i] !== bytes[word + i]) return false;
  return true;
}

function lastClass(state: ContextState): number {
  return state.reply.length === 0 ? 0 : byteClass(state.text.bytes[state.text.length - 1] as number);
}

function unusedKeys(state: ContextState): number {
  let known = 0;
  let unused = 0;
  for (const source of state.sources) {
    if (source.role !== PARAMETER || source.owner !== state.reply.tool) continue;
    known++;
    if (!state.usedKeys.includes(source.hash)) unused++;
  }
  return known === 0 ? 3 : Math.min(unused, 2);
}

/** Where the word being written comes from, as far as the critic cares: role and gap of the first match. */
function sourceOfWord(state: ContextState): number {
  const { text, reply } = state;
  if (reply.phase !== JSON_BODY || !reply.inString || reply.isKey) return 0;
  const from = state.replyStart + reply.wordStart;
  const size = text.length - from;
  if (size === 0) return 1;
  for (const source of state.sources) {
    if (!fits(source, IN_VALUE, state) || !startsWith(text.bytes, source.start, from, size)) continue;
    return mix(source.role, source.before);
  }
  return 2;
}

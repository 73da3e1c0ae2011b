// What the policy knows of a conversation, updated token by token: the turns, the words that can be copied, the
// tools on offer and those already called, and where the reply at hand stands in its syntax. It is a function of
// the token ids alone, so the trainer rebuilds exactly what the engine saw.
import { mix } from './byteClass.ts';
import { ReplyScanner } from './replyScanner.ts';
import { TokenBytes } from './tokenBytes.ts';
import type { Vocabulary } from './vocabulary.ts';
import { PARAMETER, RESULT_WORD, TOOL_NAME, USER_WORD, WordCutter, type WordSource } from './wordSources.ts';

const RESPONSE_TAG = [...Buffer.from('tool_response>')];
const hashText = (text: string) => [...Buffer.from(text)].reduce(mix, 11);
const TITLE_WORDS = new Set(['title', 'Title'].map(hashText));
/** Not `Summary`: as a heading it announces a summary and asks for none. */
const SUMMARY_WORDS = new Set(['summary', 'summarize', 'Summarize', 'summarise', 'Summarise'].map(hashText));
const NAME_HASH = hashText('name');
const PLUMBING = new Set(
  ['type', 'function', 'name', 'description', 'parameters', 'properties', 'required'].map(hashText),
);

/** What the last user message asks for, as far as the format depends on it. */
export const ANY_REQUEST = 0;
export const TITLE_REQUEST = 1;
export const SUMMARY_REQUEST = 2;

export class ContextState {
  readonly text = new TokenBytes();
  readonly sources: WordSource[] = [];
  reply = new ReplyScanner();
  /** Offset of the reply at hand in `text`; -1 outside an assistant turn. */
  replyStart = -1;
  replyTokens = 0;
  wordTokens = 0;
  previousToken = 0;
  lastToken = 0;
  message = 0;
  assistantTurns = 0;
  lastRole = 0;
  /** Hash of the tool called in the last assistant turn and in the one before (0 none, 1 a reply without a call). */
  lastTool = 0;
  toolBefore = 0;
  /** Hash of the first word of the last tool result. */
  lastResult = 0;
  request = ANY_REQUEST;
  hasTools = false;
  /** Keys written so far in the call at hand. */
  usedKeys: number[] = [];

  private readonly vocabulary: Vocabulary;
  private readonly cutter: WordCutter;
  private header = false;
  private roleHash = 0;
  private role = 0;
  private inResult = false;
  private tag = -1;
  private tagCloses = false;
  private resultHasWord = false;
  private signatureTool = 0;
  /** What a system message without tools asks for. */
  private systemRequest = ANY_REQUEST;
  private readonly pendingParameters: WordSource[] = [];

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary;
    this.cutter = new WordCutter((word) => this.takeWord(word));
  }

  /** Appends one token id. */
  append(id: number): void {
    this.previousToken = this.lastToken;
    this.lastToken = id;
    if (id === this.vocabulary.turnStart) {
      this.endTurn();
      this.header = true;
      this.roleHash = 11;
      return;
    }
    if (id === this.vocabulary.turnEnd) {
      this.endTurn();
      return;
    }
    const bytes = this.vocabulary.bytes[id] as Uint8Array;
    const from = this.text.length;
    this.text.push(id, bytes);
    if (this.replyStart >= 0) {
      this.appendReply(bytes);
      return;
    }
    for (let i = 0; i < bytes.length; i++) this.pushContext(bytes[i] as number, from + i);
  }

  private appendReply(bytes: Uint8Array): void {
    const { reply } = this;
    const wordStart = reply.wordStart;
    for (let i = 0; i < bytes.length; i++) {
      const wasKey = reply.inString && reply.isKey;
      reply.push(bytes[i] as number);
      if (wasKey && !reply.inString) this.usedKeys.push(reply.lastKey);
      if (reply.depth === 0) this.usedKeys.length = 0;
    }
    this.replyTokens++;
    this.wordTokens = reply.wordStart === wordStart ? this.wordTokens + 1 : 0;
  }

  private pushContext(b: number, at: number): void {
    if (this.header) {
      if (b === 10) this.startContent();
      else this.roleHash = mix(this.roleHash, b);
      return;
    }
    if (this.role === 0) return;
    if (this.role === USER_WORD && this.matchTag(b)) return;
    this.cutter.push(b, at, this.inResult ? RESULT_WORD : this.role, this.message);
  }

  private startContent(): void {
    this.header = false;
    if (this.roleHash === ROLE_ASSISTANT) {
      this.replyStart = this.text.length;
      this.reply = new ReplyScanner();
      this.replyTokens = 0;
      this.wordTokens = 0;
      this.usedKeys.length = 0;
      return;
    }
    this.message++;
    this.inResult = false;
    this.cutter.reset();
    this.role = this.roleHash === ROLE_SYSTEM ? 1 : USER_WORD;
    if (this.role === USER_WORD) {
      this.request = this.hasTools ? ANY_REQUEST : this.systemRequest;
      this.lastRole = USER_WORD;
    }
  }

  /** Follows `<tool_response>` and `</tool_response>`; true while inside one of the two. */
  private matchTag(b: number): boolean {
    if (b === 60) {
      this.tag = 0;
      this.tagCloses = false;
      this.cutter.finish();
      return true;
    }
    if (this.tag < 0) return false;
    if (b === 47 && this.tag === 0) {
      this.tagCloses = true;
      return true;
    }
    if (b !== RESPONSE_TAG[this.tag]) {
      this.tag = -1;
      return false;
    }
    this.tag++;
    if (this.tag === RESPONSE_TAG.length) {
      this.tag = -1;
      this.inResult = !this.tagCloses;
      this.cutter.reset();
      if (this.inResult) {
        this.lastRole = RESULT_WORD;
        this.resultHasWord = false;
        this.lastResult = 0;
      }
    }
    return true;
  }

  private takeWord(word: WordSource): void {
    if (this.role === 1) {
      this.takeSignatureWord(word);
      return;
    }
    this.sources.push(word);
    if (word.role === RESULT_WORD) {
      if (!this.resultHasWord) this.lastResult = word.hash;
      this.resultHasWord = true;
    } else if (TITLE_WORDS.has(word.hash)) {
      this.request = TITLE_REQUEST;
    } else if (SUMMARY_WORDS.has(word.hash) && this.request === ANY_REQUEST) {
      this.request = SUMMARY_REQUEST;
    }
  }

  /** Of the system message only tool names and parameter names are worth copying. */
  private takeSignatureWord(word: WordSource): void {
    const { bytes } = this.text;
    if (TITLE_WORDS.has(word.hash)) this.systemRequest = TITLE_REQUEST;
    if (bytes[word.start - 1] !== 34) return;
    if (word.before === NAME_HASH && bytes[word.start - 2] === 32 && bytes[word.start - 3] === 58) {
      this.signatureTool = jsonHash(bytes, word.start, word.end);
      this.hasTools = true;
      this.sources.push({ ...word, role: TOOL_NAME, hash: this.signatureTool });
      return;
    }
    const brace = bytes[word.start - 2] === 123 || bytes[word.start - 2] === 32;
    if (!brace || PLUMBING.has(word.hash) || this.signatureTool === 0) return;
    this.pendingParameters.push({ ...word, role: PARAMETER, owner: this.signatureTool });
  }

  /** A parameter is a quoted word followed by `": {`; known once the bytes after it are in. */
  private settleParameters(): void {
    const { bytes } = this.text;
    for (const word of this.pendingParameters) {
      const { end } = word;
      if (bytes[end] !== 34 || bytes[end + 1] !== 58 || bytes[end + 3] !== 123) continue;
      this.sources.push({ ...word, hash: jsonHash(bytes, word.start, end) });
    }
    this.pendingParameters.length = 0;
  }

  private endTurn(): void {
    this.cutter.finish();
    if (this.role === 1) this.settleParameters();
    if (this.replyStart >= 0) {
      this.assistantTurns++;
      this.toolBefore = this.lastTool;
      this.lastTool = this.reply.tool === 0 ? 1 : this.reply.tool;
      this.replyStart = -1;
    }
    this.role = 0;
    this.header = false;
  }
}

/** Hash of a word the way the reply scanner hashes a string, so that the two can be compared. */
function jsonHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = 7;
  for (let i = start; i < end; i++) hash = mix(hash, bytes[i] as number);
  return hash;
}

const ROLE_ASSISTANT = hashText('assistant');
const ROLE_SYSTEM = hashText('system');

// Reads the bytes of an assistant reply as they come and says where in the syntax of a tool call they stand. It
// looks at bytes only, so two tokenisations of one text give the same state at the same byte.
import { mix } from './byteClass.ts';

const OPEN_TAG = [...new TextEncoder().encode('<tool_call>')];
const CLOSE_TAG = [...new TextEncoder().encode('</tool_call>')];

/** text: outside any call. json: between the tags. after: a call was closed. */
export const TEXT = 0;
export const JSON_BODY = 1;
export const AFTER = 2;

export class ReplyScanner {
  phase = TEXT;
  depth = 0;
  inString = false;
  /** Whether the string at hand (or the next one) is a key. */
  isKey = true;
  /** Hash of the last complete key, and of the value of "name" on the first level. */
  lastKey = 0;
  tool = 0;
  /** Hash of the bytes since the last landmark (string end, tag, start); not kept inside value strings. */
  tail = 0;
  /** Bytes of the word at hand inside a value string or text, as offsets into the reply. */
  wordStart = 0;
  length = 0;
  /** Words finished in this string or text. */
  words = 0;
  /** Tokens are counted by the caller: set to 0 whenever a word starts. */
  private escaped = false;
  private stringHash = 0;
  private tagProgress = 0;

  /** Takes the next byte. */
  push(b: number): void {
    this.length++;
    if (this.phase === JSON_BODY) {
      this.pushJson(b);
      if (!this.inString) this.matchTag(b, CLOSE_TAG, AFTER);
    } else {
      this.pushText(b);
      this.matchTag(b, OPEN_TAG, JSON_BODY);
    }
  }

  /** Whether words are being written freely: inside a value string, or in text. */
  get free(): boolean {
    return this.phase === JSON_BODY ? this.inString && !this.isKey : this.tagProgress === 0;
  }

  private matchTag(b: number, tag: readonly number[], next: number): void {
    this.tagProgress = b === tag[this.tagProgress] ? this.tagProgress + 1 : b === tag[0] ? 1 : 0;
    if (this.tagProgress < tag.length) return;
    this.phase = next;
    this.tagProgress = 0;
    this.depth = 0;
    this.inString = false;
    this.isKey = true;
    this.lastKey = 0;
    if (next === JSON_BODY) this.tool = 0;
    this.tail = 0;
    this.words = 0;
    this.wordStart = this.length;
  }

  private pushText(b: number): void {
    const space = b === 32 || b === 10;
    if (space) {
      if (this.wordStart < this.length - 1) this.words++;
      this.wordStart = this.length;
    }
    // Free text is not hashed (too many states); a tag that has begun is.
    this.tail = this.tagProgress > 0 || b === 60 || this.phase === AFTER ? mix(this.tail, b) : space ? 1 : 2;
  }

  private pushJson(b: number): void {
    if (this.inString) {
      this.pushString(b);
      return;
    }
    this.tail = mix(this.tail, b);
    if (b === 34) {
      this.inString = true;
      this.stringHash = 7;
      this.tail = 3;
      this.words = 0;
      this.wordStart = this.length;
    } else if (b === 123 || b === 91) {
      this.depth++;
      this.isKey = true;
    } else if (b === 125 || b === 93) {
      this.depth--;
    } else if (b === 58) {
      this.isKey = false;
    } else if (b === 44) {
      this.isKey = true;
    }
  }

  private pushString(b: number): void {
    if (this.escaped) {
      this.escaped = false;
      this.stringHash = mix(this.stringHash, b);
      return;
    }
    if (b === 92) {
      this.escaped = true;
      return;
    }
    if (b !== 34) {
      this.stringHash = mix(this.stringHash, b);
      if (this.isKey) this.tail = mix(this.tail, b);
      if (b === 32) {
        this.words++;
        this.wordStart = this.length;
      }
      return;
    }
    this.inString = false;
    this.tail = 4;
    if (this.isKey) this.lastKey = this.stringHash;
    else if (this.depth === 1 && this.tool === 0) this.tool = this.stringHash;
  }
}

// Words of the conversation that a reply can copy: where each starts, and what stands around it.
import { byteClass, DIGIT, LETTER, mix } from './byteClass.ts';

/** Where a word stands. TOOL_NAME and PARAMETER come from the tool signatures of the system message. */
export const USER_WORD = 2;
export const RESULT_WORD = 4;
export const TOOL_NAME = 5;
export const PARAMETER = 6;

export interface WordSource {
  readonly start: number;
  readonly role: number;
  readonly message: number;
  /** Hash of the word before it in the same message (0: none), and of the bytes between the two. */
  readonly before: number;
  readonly gap: number;
  /** TOOL_NAME: 0. PARAMETER: hash of the tool it belongs to. */
  owner: number;
  end: number;
  hash: number;
  /** 1 plain, 2 with a dot inside, 3 with a slash or a dash, 4 with a digit. */
  shape: number;
}

export function isWordByte(b: number): boolean {
  const c = byteClass(b);
  return c === LETTER || c === DIGIT;
}

/** Inside a word these go on with it when another word byte follows. */
export function isJoint(b: number): boolean {
  return b === 46 || b === 45 || b === 47;
}

/** Cuts a stretch of content into words, one byte at a time. */
export class WordCutter {
  private open: WordSource | null = null;
  private joint = 0;
  private before = 0;
  private gap = 0;
  private previousByte = 32;
  private readonly emit: (word: WordSource) => void;

  constructor(emit: (word: WordSource) => void) {
    this.emit = emit;
  }

  /** Forgets what stood before: a new message, or a tag. */
  reset(): void {
    this.finish();
    this.before = 0;
    this.gap = 0;
    this.previousByte = 32;
  }

  /** `at` is the offset of the byte; `role` and `message` go into a word that starts here. */
  push(b: number, at: number, role: number, message: number): void {
    const wordByte = isWordByte(b);
    const open = this.open;
    if (open !== null) {
      if (wordByte) {
        if (this.joint > 0) {
          open.shape = Math.max(open.shape, this.joint === 46 ? 2 : 3);
          open.hash = mix(open.hash, this.joint);
          this.joint = 0;
        }
        if (byteClass(b) === DIGIT) open.shape = 4;
        open.hash = mix(open.hash, b);
        open.end = at + 1;
        return;
      }
      if (isJoint(b) && this.joint === 0) {
        this.joint = b;
        return;
      }
      const pending = this.joint;
      this.finish();
      this.gap = pending > 0 ? mix(0, pending) : 0;
    } else if (wordByte && this.previousByte !== 60 && this.previousByte !== 47) {
      this.open = {
        start: at,
        role,
        message,
        before: this.before,
        gap: this.gap,
        owner: 0,
        end: at + 1,
        hash: mix(11, b),
        shape: byteClass(b) === DIGIT ? 4 : 1,
      };
      return;
    }
    this.gap = mix(this.gap, b);
    this.previousByte = wordByte ? this.previousByte : b;
  }

  /** Closes the word at hand, if any. */
  finish(): void {
    if (this.open === null) return;
    this.emit(this.open);
    this.before = this.open.hash;
    this.gap = 0;
    this.open = null;
    this.joint = 0;
    this.previousByte = 32;
  }
}

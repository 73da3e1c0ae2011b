import { EspalierError } from '../../schemas/errors.ts';
import type { PolicySpan } from '../../schemas/generated/events.ts';

/** One canned reply. */
export interface ScriptedReply {
  /** Encoded with the model's tokenizer, special tokens included; the end-of-turn id is added on `stop`. */
  readonly text?: string;
  /** Exact ids instead of a text. */
  readonly tokenIds?: readonly number[];
  /** Used only for a prompt that contains this text, or for the call with this number (from 0). */
  readonly match?: string | number;
  readonly finishReason?: 'stop' | 'length' | 'abort';
  readonly delayMs?: number;
  /** Answer with this HTTP status instead of a reply. */
  readonly status?: number;
  /** Weight version; default: the one last set. */
  readonly version?: string;
  readonly versions?: readonly PolicySpan[];
  /** Log-probabilities to send in place of the canned ones; null stands for a missing one. */
  readonly logprobs?: readonly (number | null)[];
  /** Stays for later calls that match. */
  readonly repeat?: boolean;
}

/** Reads a script: JSON lines, or one JSON array. @throws EspalierError E_USAGE naming the line */
export function readScript(text: string): readonly ScriptedReply[] {
  if (text.trimStart().startsWith('[')) return JSON.parse(text) as ScriptedReply[];
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as ScriptedReply];
    } catch (error) {
      throw new EspalierError('E_USAGE', `line ${at + 1} of the script is no JSON`, { cause: error });
    }
  });
}

import { loadModel } from '../../../infra/model/loadModel.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import { tinyModelDir } from '../tinyModelDir.ts';
import type { Decode } from './describeAttempt.ts';
import type { RolloutEvents } from './rolloutEvents.ts';

/** A decoder, or why there is none. */
export interface FoundDecoder {
  readonly decode: Decode | null;
  readonly problem: string | null;
}

/**
 * Decodes with the tokenizer of a rollout's run: the model directory of its configuration, the
 * built-in tiny model where it names none. A tokenizer other than the one on record is not used.
 */
export function decoderOf(events: RolloutEvents, config: Partial<RunConfig>): FoundDecoder {
  const dir = config.modelDir ?? tinyModelDir();
  try {
    const model = loadModel(dir);
    const recorded = events.started.find((event) => event.tokenizerDigest !== null)?.tokenizerDigest;
    if (recorded !== undefined && recorded !== model.tokenizerDigest) {
      return { decode: null, problem: `the tokenizer in ${dir} is not the one of this rollout` };
    }
    return { decode: (ids) => model.decode(ids), problem: null };
  } catch (error) {
    return { decode: null, problem: (error as Error).message };
  }
}

// Samples one reply token by token. The caller owns the loop, so a server can yield between tokens and swap the
// weights in between.
import { ContextState } from './contextState.ts';
import { Distribution } from './distribution.ts';
import { Features } from './features.ts';
import type { Rng } from './rng.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { Weights } from './weights.ts';

export interface SampledToken {
  readonly id: number;
  /** Natural log of its probability at the sampling temperature. */
  readonly logprob: number;
}

/** Scratch memory, reusable from reply to reply. */
export interface SamplerScratch {
  readonly features: Features;
  readonly distribution: Distribution;
}

export function samplerScratch(vocabulary: Vocabulary): SamplerScratch {
  return { features: new Features(), distribution: new Distribution(vocabulary.size) };
}

/** Reads the whole input; the result is the state the first token is sampled from. */
export function readContext(vocabulary: Vocabulary, inputIds: ArrayLike<number>): ContextState {
  const state = new ContextState(vocabulary);
  for (let i = 0; i < inputIds.length; i++) state.append(inputIds[i] as number);
  return state;
}

/**
 * Samples the next token and appends it to `state`. Nothing is masked: every token of the vocabulary has a chance.
 * Temperature 0 takes the likeliest token and reports its log-probability at temperature 1.
 */
export function sampleNext(
  state: ContextState,
  weights: Weights,
  scratch: SamplerScratch,
  temperature: number,
  rng: Rng,
): SampledToken {
  const { features, distribution } = scratch;
  features.collect(state);
  distribution.compute(weights, features, temperature > 0 ? temperature : 1);
  const id = temperature > 0 ? distribution.sample(rng()) : distribution.argmax();
  state.append(id);
  return { id, logprob: distribution.logProb(id) };
}

export interface SampleOptions {
  readonly maxNewTokens: number;
  readonly temperature: number;
  readonly stopIds: ReadonlySet<number>;
  readonly rng: Rng;
}

/** A whole reply at once: up to maxNewTokens tokens, the stop token included. */
export function sampleReply(
  vocabulary: Vocabulary,
  weights: Weights,
  inputIds: ArrayLike<number>,
  options: SampleOptions,
  scratch: SamplerScratch = samplerScratch(vocabulary),
): SampledToken[] {
  const state = readContext(vocabulary, inputIds);
  const out: SampledToken[] = [];
  while (out.length < options.maxNewTokens) {
    const token = sampleNext(state, weights, scratch, options.temperature, options.rng);
    out.push(token);
    if (options.stopIds.has(token.id)) break;
  }
  return out;
}

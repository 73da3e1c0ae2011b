import type { ContextState } from './contextState.ts';
import type { Rng } from './rng.ts';
import { readContext, type SamplerScratch, sampleNext } from './sampleReply.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { Weights } from './weights.ts';

/** Weights with the name they were published under. */
export interface VersionedWeights {
  readonly version: string;
  readonly weights: Weights;
}

/** Which version sampled the tokens from `start` to `end`. */
export interface VersionSpan {
  readonly version: string;
  readonly start: number;
  end: number;
}

/** One reply in the making. */
export interface Generation {
  readonly id: string;
  readonly tokenIds: number[];
  readonly logprobs: number[];
  readonly spans: VersionSpan[];
  /** Why it ended; undefined while it goes on. */
  finish: 'stop' | 'length' | 'abort' | undefined;
  matched: number | undefined;
}

/** What a request asks to be generated. */
export interface GenerationRequest {
  readonly id: string;
  readonly inputIds: readonly number[];
  readonly maxNewTokens: number;
  readonly temperature: number;
  readonly stopIds: ReadonlySet<number>;
  readonly rng: Rng;
}

/** Tokens sampled between two looks at the rest of the world: weight updates, aborts, other requests. */
const SLICE = 8;

/**
 * Samples a reply in slices, so that a server stays responsive and new weights take effect between
 * two tokens: the reply then has a span for each version.
 * @param current the weights to sample the next token from
 */
export async function* generate(
  vocabulary: Vocabulary,
  scratch: SamplerScratch,
  current: () => VersionedWeights,
  request: GenerationRequest,
  running: Generation,
): AsyncGenerator<Generation> {
  const state: ContextState = readContext(vocabulary, request.inputIds);
  while (running.finish === undefined) {
    for (let i = 0; i < SLICE && running.finish === undefined; i++) {
      const { version, weights } = current();
      const { id, logprob } = sampleNext(state, weights, scratch, request.temperature, request.rng);
      record(running, id, logprob, version);
      if (request.stopIds.has(id)) {
        running.finish = 'stop';
        running.matched = id;
      } else if (running.tokenIds.length >= request.maxNewTokens) running.finish = 'length';
    }
    yield running;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function record(running: Generation, id: number, logprob: number, version: string): void {
  running.tokenIds.push(id);
  running.logprobs.push(logprob);
  const last = running.spans.at(-1);
  if (last?.version === version) last.end = running.tokenIds.length;
  else running.spans.push({ version, start: running.tokenIds.length - 1, end: running.tokenIds.length });
}

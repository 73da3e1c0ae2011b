// The weights training starts from: maximum likelihood on random traces of the format (see traces.ts for what they
// hold and what they cannot hold). Deterministic: the seed decides everything.
import { ContextState } from '../contextState.ts';
import { Distribution } from '../distribution.ts';
import { Features, FIRST_CHOICE_COPY, FIRST_CHOICE_ROW } from '../features.ts';
import { rngFromSeed } from '../rng.ts';
import { TinyChat } from '../tinyChat.ts';
import { loadVocabulary, type Vocabulary } from '../vocabulary.ts';
import { type Weights, zeroWeights } from '../weights.ts';
import { randomConversation, type Trace } from './conversation.ts';

const CONVERSATIONS = 700;
const BATCH = 4;
const RATE = 0.6;

/**
 * Weights after the warm start, a pure function of the seed. Takes a few seconds of CPU. `conversations`: how many
 * traces are drawn.
 */
export function warmStart(seed: number, conversations = CONVERSATIONS): Weights {
  const vocabulary = loadVocabulary();
  const chat = new TinyChat();
  const rng = rngFromSeed(seed);
  const weights = zeroWeights(vocabulary.size);
  const imitation = new Imitation(vocabulary, weights);
  for (let i = 0; i < conversations; i++) {
    imitation.add(randomConversation(rng, chat, vocabulary));
    if ((i + 1) % BATCH === 0) imitation.step(RATE * (1.1 - i / conversations));
  }
  imitation.step(RATE);
  return weights;
}

/** Adagrad on the log-likelihood of replies. */
class Imitation {
  private readonly features = new Features();
  private readonly distribution: Distribution;
  private readonly gradient: Float32Array;
  private readonly squares: Float32Array;
  private readonly vocabulary: Vocabulary;
  private readonly weights: Weights;

  constructor(vocabulary: Vocabulary, weights: Weights) {
    this.vocabulary = vocabulary;
    this.weights = weights;
    this.distribution = new Distribution(vocabulary.size);
    this.gradient = new Float32Array(weights.values.length);
    this.squares = new Float32Array(weights.values.length);
  }

  add({ ids, replies }: Trace): void {
    const { features, distribution, weights, gradient } = this;
    const state = new ContextState(this.vocabulary);
    let reply = 0;
    for (let i = 0; i < ids.length; i++) {
      const token = ids[i] as number;
      if (i >= (replies[reply]?.[1] ?? Infinity)) reply++;
      if (i >= (replies[reply]?.[0] ?? Infinity)) {
        features.collect(state);
        distribution.compute(weights, features, 1);
        distribution.addGradient(weights, features, token, 1, 0, 0, gradient);
      }
      state.append(token);
    }
  }

  step(rate: number): void {
    const { gradient, squares } = this;
    const { values, copyOffset, vocabularySize } = this.weights;
    const choices = FIRST_CHOICE_ROW * vocabularySize;
    const end = copyOffset + FIRST_CHOICE_COPY;
    gradient.fill(0, choices, copyOffset);
    gradient.fill(0, end);
    for (let i = 0; i < end; i++) {
      const g = gradient[i]!;
      if (g === 0) continue;
      squares[i]! += g * g;
      values[i]! += (rate * g) / Math.sqrt(squares[i]! + 1);
      gradient[i] = 0;
    }
  }
}

// From features to the distribution over the next token, and the gradient back.
//
// Each token v has a score g_v, the sum of its weights in the active rows. Each copy entry p has a score s_p and
// proposes one token. The logit of v is log(exp g_v + sum of exp s_p over the entries that propose v); softmax of
// logits / temperature. So a token may be written or copied, and both ways add up.
import { COPY_FEATURES, type FeatureSet } from './features.ts';
import type { Weights } from './weights.ts';

/** Probabilities below this add nothing that float32 weights could hold. */
const NEGLIGIBLE = 1e-6;

type Numbers = Float32Array | Float64Array;

/** Scratch space for one state at a time; everything describes the last call of `compute`. */
export class Distribution {
  /** Probability of each token. */
  readonly probs: Float64Array;
  private readonly written: Float64Array;
  private readonly mass: Float64Array;
  private readonly slope: Float64Array;
  private readonly logRatio: Float64Array;
  private copied = new Float64Array(64);
  private temperature = 1;
  private logTotal = 0;

  constructor(vocabularySize: number) {
    this.probs = new Float64Array(vocabularySize);
    this.written = new Float64Array(vocabularySize);
    this.mass = new Float64Array(vocabularySize);
    this.slope = new Float64Array(vocabularySize);
    this.logRatio = new Float64Array(vocabularySize);
  }

  /** Fills `probs` for the features, at `temperature` > 0. */
  compute(weights: Weights, features: FeatureSet, temperature: number): void {
    const { values, vocabularySize: size, copyOffset } = weights;
    const { written, mass, probs } = this;
    const { copyTokens, copyIndices } = features;
    this.temperature = temperature;
    sumRows(values, features.rows, size, written);
    let shift = -Infinity;
    for (let v = 0; v < size; v++) if (written[v]! > shift) shift = written[v]!;
    const copies = copyTokens.length;
    if (copies > this.copied.length) this.copied = new Float64Array(copies * 2);
    const { copied } = this;
    for (let p = 0; p < copies; p++) {
      let s = 0;
      const end = (p + 1) * COPY_FEATURES;
      for (let f = p * COPY_FEATURES; f < end; f++) s += values[copyOffset + copyIndices[f]!]!;
      copied[p] = s;
      if (s > shift) shift = s;
    }
    for (let v = 0; v < size; v++) mass[v] = written[v] = Math.exp(written[v]! - shift);
    for (let p = 0; p < copies; p++) {
      copied[p] = Math.exp(copied[p]! - shift);
      mass[copyTokens[p]!]! += copied[p]!;
    }
    let total = 0;
    for (let v = 0; v < size; v++) {
      const m = temperature === 1 ? mass[v]! : mass[v]! ** (1 / temperature);
      probs[v] = m;
      total += m;
    }
    for (let v = 0; v < size; v++) probs[v]! /= total;
    this.logTotal = Math.log(total);
  }

  /** Natural log of a token's probability. */
  logProb(token: number): number {
    return Math.log(this.mass[token]!) / this.temperature - this.logTotal;
  }

  /** Shannon entropy in nats. */
  entropy(): number {
    const { probs } = this;
    let h = 0;
    for (let v = 0; v < probs.length; v++) if (probs[v]! > 1e-12) h -= probs[v]! * Math.log(probs[v]!);
    return h;
  }

  /** Draws a token with a uniform number in [0, 1). */
  sample(uniform: number): number {
    const { probs } = this;
    let left = uniform;
    let last = 0;
    for (let v = 0; v < probs.length; v++) {
      const p = probs[v]!;
      if (p <= 0) continue;
      last = v;
      left -= p;
      if (left < 0) return v;
    }
    return last;
  }

  /** The most likely token. */
  argmax(): number {
    let best = 0;
    for (let v = 1; v < this.probs.length; v++) if (this.probs[v]! > this.probs[best]!) best = v;
    return best;
  }

  /** KL(this || anchor) in nats, over the whole vocabulary; remembered for `addGradient`. */
  divergence(anchor: Distribution): number {
    const { probs, mass, logRatio } = this;
    const scale = 1 / this.temperature;
    const shift = anchor.logTotal - this.logTotal;
    let kl = 0;
    for (let v = 0; v < probs.length; v++) {
      const p = probs[v]!;
      if (p <= NEGLIGIBLE) continue;
      logRatio[v] = Math.log(mass[v]! / anchor.mass[v]!) * scale + shift;
      kl += p * logRatio[v]!;
    }
    return kl;
  }

  /**
   * Adds to `gradient` the derivative, with respect to the weights, of `onLogProb` x log p(token) + `onDivergence` x
   * KL(this || anchor), whose value was computed last by `divergence`.
   */
  addGradient(
    weights: Weights,
    features: FeatureSet,
    token: number,
    onLogProb: number,
    onDivergence: number,
    divergence: number,
    gradient: Numbers,
  ): void {
    const { vocabularySize: size, copyOffset } = weights;
    const { probs, mass, written, copied, slope, logRatio, temperature } = this;
    const { copyTokens, copyIndices } = features;
    for (let v = 0; v < size; v++) {
      const p = probs[v]!;
      let d = -onLogProb * p;
      if (onDivergence !== 0 && p > NEGLIGIBLE) d += onDivergence * p * (logRatio[v]! - divergence);
      if (v === token) d += onLogProb;
      // Derivative by the logit, per unit of mass: shared out below between writing and copying.
      slope[v] = mass[v]! > 0 ? d / (temperature * mass[v]!) : 0;
    }
    for (let p = 0; p < copyTokens.length; p++) {
      const d = slope[copyTokens[p]!]! * copied[p]!;
      const end = (p + 1) * COPY_FEATURES;
      for (let f = p * COPY_FEATURES; f < end; f++) gradient[copyOffset + copyIndices[f]!]! += d;
    }
    for (let v = 0; v < size; v++) slope[v]! *= written[v]!;
    for (let r = 0; r < features.rows.length; r++) {
      const offset = features.rows[r]! * size;
      for (let v = 0; v < size; v++) gradient[offset + v]! += slope[v]!;
    }
  }
}

/** out[v] = sum over rows of values[row * size + v]; four rows at a time, which is twice as fast as one. */
function sumRows(values: Numbers, rows: ArrayLike<number>, size: number, out: Float64Array): void {
  out.fill(0);
  let r = 0;
  for (; r + 3 < rows.length; r += 4) {
    const a = rows[r]! * size;
    const b = rows[r + 1]! * size;
    const c = rows[r + 2]! * size;
    const d = rows[r + 3]! * size;
    for (let v = 0; v < size; v++) {
      out[v]! += values[a + v]! + values[b + v]! + (values[c + v]! + values[d + v]!);
    }
  }
  for (; r < rows.length; r++) {
    const offset = rows[r]! * size;
    for (let v = 0; v < size; v++) out[v]! += values[offset + v]!;
  }
}

/** V(s): the sum of the critic's weights. */
export function criticValue(weights: Weights, features: FeatureSet): number {
  let v = 0;
  for (let i = 0; i < features.critic.length; i++)
    v += weights.values[weights.criticOffset + features.critic[i]!]!;
  return v;
}

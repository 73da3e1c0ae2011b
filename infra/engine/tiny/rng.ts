// Seeded random numbers: the same seed gives the same stream on every machine.

/** A stream of uniform numbers in [0, 1). */
export type Rng = () => number;

/** Mulberry32: 32 bits of state, good enough to sample tokens and to shuffle. `seed` is taken modulo 2^32. */
export function rngFromSeed(seed: number): Rng {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A whole number in [0, n). */
export function below(rng: Rng, n: number): number {
  return Math.floor(rng() * n);
}

/** One element of a non-empty list, uniformly. */
export function pick<T>(rng: Rng, from: readonly T[]): T {
  return from[below(rng, from.length)] as T;
}

/** A shuffled copy (Fisher-Yates). */
export function shuffled<T>(rng: Rng, from: readonly T[]): T[] {
  const out = from.slice();
  for (let i = out.length - 1; i > 0; i--) {
    const j = below(rng, i + 1);
    [out[i], out[j]] = [out[j] as T, out[i] as T];
  }
  return out;
}

/** A permutation of the items that follows from seed and batch number alone (Fisher-Yates). */
export function shuffle<T>(items: readonly T[], seed: number, batchNumber: number): readonly T[] {
  const shuffled = [...items];
  const next = random(mix(mix(seed) ^ batchNumber));
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}

/** Uniform numbers in [0, 1): a Weyl sequence through a 32-bit mixer. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    return (mix(state) >>> 0) / 2 ** 32;
  };
}

function mix(x: number): number {
  let h = x | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

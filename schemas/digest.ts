/**
 * xxh64 (seed 0) of token ids as little-endian int32, with a state that can be kept and extended: the
 * digest of a call's history costs work in proportion to what the call adds, never to the history.
 * 64-bit arithmetic is done on pairs of 32-bit halves, because BigInt is about a hundred times slower.
 */

/** A digest in progress. Immutable: extending it gives a new one. */
export interface TokenDigest {
  /** ids hashed so far */
  readonly count: number;
  /** four 64-bit accumulators as low, high halves */
  readonly lanes: Int32Array;
  /** the last count % 8 ids, which do not fill a 32-byte stripe yet */
  readonly tail: Int32Array;
}

const P1_LOW = 0x85ebca87 | 0;
const P1_HIGH = 0x9e3779b1 | 0;
const P2_LOW = 0x27d4eb4f;
const P2_HIGH = 0xc2b2ae3d | 0;
const P3_LOW = 0x9e3779f9 | 0;
const P3_HIGH = 0x165667b1;
const P4_LOW = 0xc2b2ae63 | 0;
const P4_HIGH = 0x85ebca77 | 0;
const P5_LOW = 0x165667c5;
const P5_HIGH = 0x27d4eb2f;
const STRIPE = 8;

/** The digest of no tokens. */
export const EMPTY_DIGEST: TokenDigest = {
  count: 0,
  // P1 + P2, P2, 0, -P1
  lanes: new Int32Array([0xadc0b5d6 | 0, 0x60ea27ee | 0, P2_LOW, P2_HIGH, 0, 0, -P1_LOW | 0, ~P1_HIGH | 0]),
  tail: new Int32Array(0),
};

/** The digest of the ids hashed so far followed by `ids`. Work is proportional to `ids`. */
export function extendDigest(digest: TokenDigest, ids: Int32Array): TokenDigest {
  if (ids.length === 0) return digest;
  const lanes = digest.lanes.slice();
  const held = digest.tail.length;
  let at = 0;
  if (held > 0) {
    if (held + ids.length < STRIPE)
      return { ...digest, count: digest.count + ids.length, tail: concat(digest.tail, ids) };
    const stripe = new Int32Array(STRIPE);
    stripe.set(digest.tail);
    at = STRIPE - held;
    stripe.set(ids.subarray(0, at), held);
    absorb(lanes, stripe, 0, STRIPE);
  }
  const end = at + Math.floor((ids.length - at) / STRIPE) * STRIPE;
  absorb(lanes, ids, at, end);
  return { count: digest.count + ids.length, lanes, tail: ids.slice(end) };
}

/** The 64-bit value as 16 lower-case hex digits. */
export function digestHex(digest: TokenDigest): string {
  const h = new Int32Array(2);
  if (digest.count >= STRIPE) mergeLanes(h, digest.lanes);
  else set(h, P5_LOW, P5_HIGH);
  // The length in bytes may pass 2^31: add it as a double split into halves.
  const bytes = digest.count * 4;
  add(h, bytes | 0, Math.floor(bytes / 2 ** 32) | 0);
  const { tail } = digest;
  let i = 0;
  const lane = new Int32Array(2);
  for (; i + 2 <= tail.length; i += 2) {
    set(lane, 0, 0);
    round(lane, tail[i]!, tail[i + 1]!);
    xor(h, lane[0]!, lane[1]!);
    rotl(h, 27);
    mul(h, P1_LOW, P1_HIGH);
    add(h, P4_LOW, P4_HIGH);
  }
  if (i < tail.length) {
    set(lane, tail[i]!, 0);
    mul(lane, P1_LOW, P1_HIGH);
    xor(h, lane[0]!, lane[1]!);
    rotl(h, 23);
    mul(h, P2_LOW, P2_HIGH);
    add(h, P3_LOW, P3_HIGH);
  }
  xor(h, h[1]! >>> 1, 0); // h ^= h >>> 33
  mul(h, P2_LOW, P2_HIGH);
  xor(h, (h[0]! >>> 29) | (h[1]! << 3), h[1]! >>> 29);
  mul(h, P3_LOW, P3_HIGH);
  xor(h, h[1]!, 0); // h ^= h >>> 32
  return hex(h[1]!) + hex(h[0]!);
}

/** Digest of a whole history at once, as 16 lower-case hex digits. */
export function digestTokens(ids: Int32Array): string {
  return digestHex(extendDigest(EMPTY_DIGEST, ids));
}

/** The hot loop: whole stripes of eight ids, two to each of the four lanes. */
function absorb(lanes: Int32Array, ids: Int32Array, from: number, to: number): void {
  for (let lane = 0; lane < 4; lane++) {
    let low = lanes[2 * lane]!;
    let high = lanes[2 * lane + 1]!;
    for (let i = from + 2 * lane; i < to; i += STRIPE) {
      const a = ids[i]!;
      const b = ids[i + 1]!;
      // acc += lane * P2
      const productLow = Math.imul(a, P2_LOW);
      const productHigh = (mulHigh(a, P2_LOW) + Math.imul(a, P2_HIGH) + Math.imul(b, P2_LOW)) | 0;
      const sum = (low + productLow) | 0;
      high = (high + productHigh + (sum >>> 0 < productLow >>> 0 ? 1 : 0)) | 0;
      // rotl 31
      const rotatedLow = (sum << 31) | (high >>> 1);
      const rotatedHigh = (high << 31) | (sum >>> 1);
      // *= P1
      low = Math.imul(rotatedLow, P1_LOW);
      high =
        (mulHigh(rotatedLow, P1_LOW) + Math.imul(rotatedLow, P1_HIGH) + Math.imul(rotatedHigh, P1_LOW)) | 0;
    }
    lanes[2 * lane] = low;
    lanes[2 * lane + 1] = high;
  }
}

function mergeLanes(h: Int32Array, lanes: Int32Array): void {
  const lane = new Int32Array(2);
  for (const [i, bits] of [1, 7, 12, 18].entries()) {
    set(lane, lanes[2 * i]!, lanes[2 * i + 1]!);
    rotl(lane, bits);
    add(h, lane[0]!, lane[1]!);
  }
  for (let i = 0; i < 4; i++) {
    set(lane, 0, 0);
    round(lane, lanes[2 * i]!, lanes[2 * i + 1]!);
    xor(h, lane[0]!, lane[1]!);
    mul(h, P1_LOW, P1_HIGH);
    add(h, P4_LOW, P4_HIGH);
  }
}

/** acc = rotl(acc + input * P2, 31) * P1 */
function round(acc: Int32Array, low: number, high: number): void {
  const product = new Int32Array([low, high]);
  mul(product, P2_LOW, P2_HIGH);
  add(acc, product[0]!, product[1]!);
  rotl(acc, 31);
  mul(acc, P1_LOW, P1_HIGH);
}

function set(x: Int32Array, low: number, high: number): void {
  x[0] = low;
  x[1] = high;
}

function xor(x: Int32Array, low: number, high: number): void {
  set(x, x[0]! ^ low, x[1]! ^ high);
}

function add(x: Int32Array, low: number, high: number): void {
  const sum = (x[0]! + low) | 0;
  set(x, sum, (x[1]! + high + (sum >>> 0 < low >>> 0 ? 1 : 0)) | 0);
}

function mul(x: Int32Array, low: number, high: number): void {
  const a = x[0]!;
  set(x, Math.imul(a, low), (mulHigh(a, low) + Math.imul(a, high) + Math.imul(x[1]!, low)) | 0);
}

/** Rotate left by 1 to 31 bits. */
function rotl(x: Int32Array, bits: number): void {
  const [low, high] = [x[0]!, x[1]!];
  set(x, (low << bits) | (high >>> (32 - bits)), (high << bits) | (low >>> (32 - bits)));
}

/** High half of the unsigned 64-bit product of two 32-bit numbers. */
function mulHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = (middle & 0xffff) + aLow * bHigh;
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000)) | 0;
}

function concat(a: Int32Array, b: Int32Array): Int32Array {
  const joined = new Int32Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

function hex(x: number): string {
  return (x >>> 0).toString(16).padStart(8, '0');
}

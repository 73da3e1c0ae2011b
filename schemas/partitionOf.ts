const M = 0x5bd1e995;
const SEED = 0x9747b28c;

/**
 * Partition of a key: murmur2 over its UTF-8 bytes, as Kafka's Java client and kafkajs do it. In
 * librdkafka it is called `murmur2_random`; its default is another hash and would send a run's
 * events elsewhere.
 */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(new TextEncoder().encode(key)) & 0x7fffffff) % partitions;
}

function murmur2(data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let h = SEED ^ data.length;
  let i = 0;
  for (; i + 4 <= data.length; i += 4) {
    let k = Math.imul(view.getInt32(i, true), M);
    k = Math.imul(k ^ (k >>> 24), M);
    h = Math.imul(h, M) ^ k;
  }
  const left = data.length - i;
  if (left >= 3) h ^= view.getUint8(i + 2) << 16;
  if (left >= 2) h ^= view.getUint8(i + 1) << 8;
  if (left >= 1) h = Math.imul(h ^ view.getUint8(i), M);
  h = Math.imul(h ^ (h >>> 13), M);
  return h ^ (h >>> 15);
}

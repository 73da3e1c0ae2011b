import { expect, test } from 'vitest';
import { partitionOf } from '../../schemas/partitionOf.ts';

// Hashes of Kafka's own partitioner tests: toPositive(murmur2(key)).
test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
])('%s goes where every Kafka client sends it', (key, hash) => {
  expect(partitionOf(key, 1_000_003)).toBe((hash & 0x7fffffff) % 1_000_003);
});

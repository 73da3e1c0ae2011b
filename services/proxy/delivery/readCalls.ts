import type { EventLog, LogRecord } from '../../../infra/log/eventLog.ts';
import type { ModelCalled, ModelCallFailed, RolloutSealed } from '../../../schemas/generated/events.ts';
import { partitionOf } from '../../../schemas/partitionOf.ts';
import type { RolloutClaims } from '../../../schemas/rolloutToken.ts';
import type { Topic } from '../../../schemas/topics.ts';

const pageSize = 500;
// Clocks of the machines that issue tokens and of those that keep the log may differ.
const clockSlackMs = 300_000;

/** All calls of an attempt that the log holds, in log order, read to its present end. */
export async function readCalls(
  log: EventLog,
  claims: RolloutClaims,
): Promise<readonly (ModelCalled | ModelCallFailed)[]> {
  const partition = partitionOf(claims.groupId, log.partitions);
  const end = await log.end('model-calls', partition);
  const calls: (ModelCalled | ModelCallFailed)[] = [];
  for (let from = BigInt(claims.startOffset); from < end; ) {
    const page = await log.read('model-calls', partition, from, pageSize);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const record of page) {
      if (!isOf(record, claims)) continue;
      const event = log.decode(record);
      if (event.type === 'ModelCalled' || event.type === 'ModelCallFailed') calls.push(event);
    }
    from = last.offset + 1n;
  }
  return calls;
}

/** The seal of an attempt, if the log holds one; the first seal is the one that counts. */
export async function readSeal(log: EventLog, claims: RolloutClaims): Promise<RolloutSealed | null> {
  const topic: Topic = 'rollouts';
  const partition = partitionOf(claims.groupId, log.partitions);
  const oldest = (claims.issuedAt ?? 0) - clockSlackMs;
  let seal: RolloutSealed | null = null;
  let to = await log.end(topic, partition);
  while (to > 0n) {
    const from = to > BigInt(pageSize) ? to - BigInt(pageSize) : 0n;
    const page = (await log.read(topic, partition, from, pageSize)).filter((record) => record.offset < to);
    for (const record of page.toReversed()) {
      if (record.headers.type !== 'RolloutSealed' || !isOf(record, claims)) continue;
      const event = log.decode(record);
      if (event.type === 'RolloutSealed') seal = event;
    }
    if ((page[0]?.timestamp ?? 0) < oldest) break;
    to = from;
  }
  return seal;
}

function isOf(record: LogRecord, claims: RolloutClaims): boolean {
  return record.headers.rollout === claims.rolloutId && record.headers.attempt === String(claims.attempt);
}

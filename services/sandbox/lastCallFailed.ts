import type { EventLog } from '../../infra/log/eventLog.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import type { RolloutClaims } from '../../schemas/rolloutToken.ts';

const BATCH = 512;
/** Failures that a harness brings about itself: they say nothing about engine or proxy. */
const OWN_DOING: ReadonlySet<string> = new Set(['clientGone', 'tooLarge', 'sealed']);

/**
 * Whether an attempt's last model call failed for a reason that is not the harness's, so that it never
 * recovered from a failure of engine or proxy. Read from the log once the attempt is sealed.
 */
export async function lastCallFailed(log: EventLog, claims: RolloutClaims): Promise<boolean> {
  const partition = partitionOf(claims.groupId, log.partitions);
  const attempt = String(claims.attempt);
  let failed = false;
  for (let next = BigInt(claims.startOffset); ; ) {
    const records = await log.read('model-calls', partition, next, BATCH);
    const last = records.at(-1);
    if (last === undefined) return failed;
    next = last.offset + 1n;
    for (const record of records) {
      // Headers name the call's rollout, so the token arrays of other rollouts stay packed.
      if (record.headers.rollout !== claims.rolloutId || record.headers.attempt !== attempt) continue;
      const event = record.headers.type === 'ModelCallFailed' ? log.decode(record) : undefined;
      failed = event?.type === 'ModelCallFailed' && !OWN_DOING.has(event.reason);
    }
  }
}

import type { EventLog, LogRecord } from '../../infra/log/eventLog.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { DeadLettered } from '../../schemas/generated/events.ts';
import type { GroupEvent } from '../../streams/group/groupState.ts';
import { deadLetter } from './deadLetter.ts';

/** What a record of the first hop means to its group. */
export interface ReadEvent {
  readonly groupId: string;
  /** Null: it cannot be read and the group does not depend on it. */
  readonly event: GroupEvent | null;
  /** Present when it cannot be read. */
  readonly letter: DeadLettered | null;
}

/** Records that no group waits for: losing one loses only its detail. */
const DISPENSABLE: ReadonlySet<string> = new Set([
  'RolloutStarted',
  'RolloutEnded',
  'RolloutAbandoned',
  'VerificationFailed',
]);

/**
 * Reads a record. One that cannot be decoded stops no other group: a call whose headers name it counts
 * as received and failed; of anything else that the group may be waiting for, the group is corrupt.
 */
export function readGroupEvent(log: Pick<EventLog, 'decode'>, record: LogRecord): ReadEvent {
  try {
    const event = log.decode(record) as GroupEvent;
    return { groupId: event.groupId, event, letter: null };
  } catch (cause) {
    if (!(cause instanceof EspalierError) || cause.code !== 'E_EVENT_DECODE') throw cause;
    const letter = deadLetter(record, cause.code, cause.message);
    return { groupId: record.headers.group ?? record.key, event: effectOf(record), letter };
  }
}

function effectOf({ key, headers }: LogRecord): GroupEvent | null {
  const { type = '', run: runId = '', group: groupId = key, rollout: rolloutId, call: callId } = headers;
  if (DISPENSABLE.has(type)) return null;
  const attempt = Number(headers.attempt ?? Number.NaN);
  const isCall = type === 'ModelCalled' || type === 'ModelCallFailed';
  if (isCall && rolloutId !== undefined && callId !== undefined && Number.isInteger(attempt)) {
    return { type: 'CallUnreadable', runId, groupId, rolloutId, attempt, callId };
  }
  return { type: 'GroupCorrupt', runId, groupId };
}

import type { EventLog } from '../../../infra/log/eventLog.ts';
import type { ModelCalled, RolloutSealed } from '../../../schemas/generated/events.ts';
import type { RolloutClaims } from '../../../schemas/rolloutToken.ts';
import type { CanonicalReply } from '../dialects/dialect.ts';
import { createLineage, type Lineage } from '../lineage/lineage.ts';
import type { PromptRenderer } from '../lineage/promptRenderer.ts';
import { REQUEST_DIGEST } from './callEvents.ts';
import { readCalls, readSeal } from './readCalls.ts';
import { replyOf } from './replyOf.ts';

/** A recorded reply and the request it answers. */
export interface MadeReply {
  readonly callId: string;
  readonly reply: CanonicalReply;
}

/** A call that is being made; byte-identical requests wait for the same one. */
export interface Flight {
  readonly made: Promise<MadeReply>;
  readonly abort: AbortController;
  waiters: number;
}

/** What the proxy holds of one rollout attempt. Rebuilt from the log, so it may be dropped when idle. */
export interface Session {
  readonly claims: RolloutClaims;
  readonly lineage: Lineage;
  readonly flights: Map<string, Flight>;
  /** Replies no client has received yet, by request digest. */
  readonly undelivered: Map<string, MadeReply>;
  /** Replies from before a restart of which nobody knows whether they arrived. */
  readonly doubtful: Map<string, MadeReply>;
  /** The last delivered reply to a request, until a call extends it or the request is made anew. */
  readonly answered: Map<string, MadeReply>;
  readonly known: Set<string>;
  nextSeq: number;
  closed: boolean;
  sealed: RolloutSealed | null;
  sealing: Promise<RolloutSealed> | null;
  /** An append failed in a way that may have written: read the log before the next call. */
  stale: boolean;
  lastUsed: number;
}

/**
 * Opens a session from what the log holds of the attempt.
 * @param doubt nobody knows whether the last replies in the log arrived: they are given once more
 */
export async function openSession(
  log: EventLog,
  renderer: PromptRenderer,
  claims: RolloutClaims,
  doubt: boolean,
): Promise<Session> {
  const sealed = await readSeal(log, claims);
  const session: Session = {
    claims,
    lineage: createLineage(renderer),
    flights: new Map(),
    undelivered: new Map(),
    doubtful: new Map(),
    answered: new Map(),
    known: new Set(),
    nextSeq: 0,
    closed: sealed !== null,
    sealed,
    sealing: null,
    stale: false,
    lastUsed: 0,
  };
  await catchUp(log, session);
  if (!doubt) session.doubtful.clear();
  return session;
}

/** Takes in the calls of the log that the session does not know yet. */
export async function catchUp(log: EventLog, session: Session): Promise<void> {
  const calls = await readCalls(log, session.claims);
  const parents = new Set(calls.map((call) => (call.type === 'ModelCalled' ? call.parentCallId : null)));
  for (const call of calls) {
    session.nextSeq = Math.max(session.nextSeq, call.seq + 1);
    if (session.known.has(call.callId)) continue;
    session.known.add(call.callId);
    if (call.type !== 'ModelCalled') continue;
    session.lineage.record(call);
    const digest = call.headers[REQUEST_DIGEST];
    if (digest === undefined) continue;
    if (parents.has(call.callId)) session.doubtful.delete(digest);
    else session.doubtful.set(digest, { callId: call.callId, reply: replyOf(call, '', null) });
  }
  session.stale = false;
}

/** Takes in a call that was just appended; its reply has not reached anyone yet. */
export function recordCall(session: Session, call: ModelCalled, digest: string, reply: CanonicalReply): void {
  session.known.add(call.callId);
  session.lineage.record(call);
  session.undelivered.set(digest, { callId: call.callId, reply });
  // What is extended has arrived.
  for (const replies of [session.undelivered, session.doubtful, session.answered]) {
    for (const [key, made] of replies) if (made.callId === call.parentCallId) replies.delete(key);
  }
}

/** Notes that a client has received a reply. */
export function noteDelivered(session: Session, callId: string): void {
  for (const replies of [session.undelivered, session.doubtful]) {
    for (const [key, made] of replies) {
      if (made.callId !== callId) continue;
      replies.delete(key);
      session.answered.set(key, made);
    }
  }
}

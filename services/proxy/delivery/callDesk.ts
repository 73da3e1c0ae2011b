import { EspalierError } from '../../../schemas/errors.ts';
import type { RolloutSealed } from '../../../schemas/generated/events.ts';
import type { RolloutClaims } from '../../../schemas/rolloutToken.ts';
import { CallEnded, Overloaded } from './failure.ts';
import { type CallPorts, type CallRequest, makeCall } from './makeCall.ts';
import { readCalls } from './readCalls.ts';
import { catchUp, type Flight, type MadeReply, noteDelivered, openSession, type Session } from './session.ts';

/** A reply on its way to one client. */
export interface PendingReply {
  readonly made: Promise<MadeReply>;
  /** The client has the whole reply. */
  delivered(callId: string): void;
  /** The client is gone; when it was the last one waiting, the call is aborted. */
  left(): void;
}

/** Where all calls come in: joins, replays, refuses, makes them, and seals rollouts. */
export interface CallDesk {
  take(claims: RolloutClaims, call: CallRequest): Promise<PendingReply>;
  /** Ids of the prompt a request would get; nothing is recorded. */
  countTokens(claims: RolloutClaims, request: CallRequest['request']): Promise<number>;
  /** Refuses further calls and publishes how many there were. The first seal wins; later ones return it. */
  seal(claims: RolloutClaims): Promise<RolloutSealed>;
  readonly inFlight: number;
  readonly sessions: number;
  /** Drops rollouts that were not used since a time (epoch ms) and owe nobody a reply; sealed ones at once. */
  releaseIdle(before: number): void;
  /** Aborts what is in flight and waits for its records. */
  close(): Promise<void>;
}

/** @param limits.maxInFlight calls at once, over all rollouts */
export function createCallDesk(ports: CallPorts, limits: { readonly maxInFlight: number }): CallDesk {
  const sessions = new Map<string, Promise<Session>>();
  /** Rollouts that were dropped from memory with every reply delivered. */
  const settled = new Set<string>();
  let inFlight = 0;
  let closing = false;

  async function open(claims: RolloutClaims): Promise<Session> {
    const key = JSON.stringify([claims.runId, claims.groupId, claims.rolloutId, claims.attempt]);
    let opening = sessions.get(key);
    if (opening === undefined) {
      opening = openSession(ports.log, ports.model, claims, !settled.has(key));
      sessions.set(key, opening);
      opening.catch(() => sessions.delete(key));
    }
    const session = await opening;
    // It may have been dropped as idle while this waited: there is one session, or calls would go astray.
    const current = sessions.get(key);
    if (current !== undefined && current !== opening) return open(claims);
    sessions.set(key, opening);
    session.lastUsed = Date.now();
    if (session.stale) await catchUp(ports.log, session);
    return session;
  }

  async function openForCalls(claims: RolloutClaims): Promise<Session> {
    if (closing) throw new CallEnded('shutdown');
    const session = await open(claims);
    if (session.closed) throw new EspalierError('E_ROLLOUT_SEALED', 'this rollout is finished');
    return session;
  }

  function start(session: Session, call: CallRequest): Flight {
    if (inFlight >= limits.maxInFlight) throw new Overloaded('too many model calls at once; try again');
    inFlight += 1;
    session.answered.delete(call.digest);
    const abort = new AbortController();
    const made = makeCall(ports, session, call, abort.signal).finally(() => {
      inFlight -= 1;
      if (session.flights.get(call.digest) === flight) session.flights.delete(call.digest);
    });
    made.catch(() => undefined);
    const flight: Flight = { made, abort, waiters: 0 };
    session.flights.set(call.digest, flight);
    return flight;
  }

  function join(session: Session, flight: Flight): PendingReply {
    flight.waiters += 1;
    return {
      made: flight.made,
      delivered: (callId) => noteDelivered(session, callId),
      left: () => {
        flight.waiters -= 1;
        if (flight.waiters === 0) flight.abort.abort(new CallEnded('clientGone'));
      },
    };
  }

  async function writeSeal(session: Session): Promise<RolloutSealed> {
    const flights = [...session.flights.values()];
    for (const flight of flights) flight.abort.abort(new CallEnded('sealed'));
    await Promise.allSettled(flights.map((flight) => flight.made));
    const { runId, groupId, rolloutId, attempt } = session.claims;
    const calls = [...(await readCalls(ports.log, session.claims))].sort((a, b) => a.seq - b.seq);
    const callIds = calls.map((call) => call.callId);
    const recorded = new Set(callIds);
    const undelivered = [...session.undelivered.values()]
      .map((made) => made.callId)
      .filter((callId) => recorded.has(callId) && !session.lineage.hasChildren(callId));
    const sealed: RolloutSealed = {
      type: 'RolloutSealed',
      ...{ runId, groupId, rolloutId, attempt },
      callCount: callIds.length,
      callIds,
      undelivered,
      at: Date.now(),
    };
    await ports.crashPoint('proxy:before-seal');
    await ports.log.append([{ topic: 'rollouts', event: sealed }]);
    await ports.crashPoint('proxy:after-seal');
    session.sealed = sealed;
    return sealed;
  }

  return {
    get inFlight() {
      return inFlight;
    },
    get sessions() {
      return sessions.size;
    },

    async take(claims, call) {
      let session = await openForCalls(claims);
      let flight = session.flights.get(call.digest);
      while (flight?.abort.signal.aborted === true) {
        // Its client left, but its record may be on the way: then this request gets that reply.
        await flight.made.catch(() => undefined);
        session = await openForCalls(claims);
        flight = session.flights.get(call.digest);
      }
      if (flight !== undefined) {
        ports.counters.joined += 1;
        return join(session, flight);
      }
      const kept =
        session.undelivered.get(call.digest) ??
        session.doubtful.get(call.digest) ??
        // Sent in full as far as can be seen here, but the client says that it got nothing.
        (call.hints.isRetry ? session.answered.get(call.digest) : undefined);
      if (kept !== undefined) {
        ports.counters.replayed += 1;
        const made = { ...kept, reply: { ...kept.reply, model: call.request.model } };
        return {
          made: Promise.resolve(made),
          delivered: (callId) => noteDelivered(session, callId),
          left: () => undefined,
        };
      }
      return join(session, start(session, call));
    },

    async countTokens(claims, request) {
      const session = await openForCalls(claims);
      return session.lineage.plan(request).inputIds.length;
    },

    async seal(claims) {
      const session = await open(claims);
      session.closed = true;
      if (session.sealed !== null) return session.sealed;
      session.sealing ??= writeSeal(session).finally(() => {
        session.sealing = null;
      });
      return session.sealing;
    },

    releaseIdle(before) {
      for (const [key, opening] of sessions) {
        opening.then(
          (session) => {
            if (session.flights.size > 0 || session.sealing !== null) return;
            const idle = session.lastUsed < before && session.undelivered.size === 0;
            if (!idle && session.sealed === null) return;
            sessions.delete(key);
            if (session.sealed === null) settled.add(key);
            else settled.delete(key);
          },
          () => undefined,
        );
      }
    },

    async close() {
      closing = true;
      const open = await Promise.allSettled(sessions.values());
      const flights = open.flatMap((result) =>
        result.status === 'fulfilled' ? [...result.value.flights.values()] : [],
      );
      for (const flight of flights) flight.abort.abort(new CallEnded('shutdown'));
      await Promise.allSettled(flights.map((flight) => flight.made));
    },
  };
}

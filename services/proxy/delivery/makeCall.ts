import type { Logger } from 'pino';
import type { Engine, GenerateResult } from '../../../infra/engine/engine.ts';
import type { EventLog } from '../../../infra/log/eventLog.ts';
import type { Model, ParseOptions } from '../../../infra/model/model.ts';
import type { CrashPoint } from '../../../infra/process/crashPoint.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import type { CanonicalRequest } from '../lineage/canonicalRequest.ts';
import type { CallPlan } from '../lineage/lineage.ts';
import type { CallCounters } from './callCounters.ts';
import { calledEvent, failedEvent } from './callEvents.ts';
import { failureReason } from './failure.ts';
import { generateWhole } from './generateWhole.ts';
import { newCallId } from './newCallId.ts';
import { replyOf } from './replyOf.ts';
import { type MadeReply, recordCall, type Session } from './session.ts';
import type { ThreadHints } from './threadHints.ts';

/** What making a call needs, the same for all calls. */
export interface CallPorts {
  readonly log: EventLog;
  readonly model: Model;
  readonly engine: Engine;
  /** Pinned by the run for every call. */
  readonly sampling: { readonly temperature: number; readonly maxTokens: number };
  readonly maxContext: number;
  readonly logger: Logger;
  readonly counters: CallCounters;
  /** Called by name where a test or a drill may want the process to die. */
  readonly crashPoint: CrashPoint;
}

/** One request, read. */
export interface CallRequest {
  readonly dialect: string;
  readonly request: CanonicalRequest;
  /** Digest of route and body bytes. */
  readonly digest: string;
  readonly hints: ThreadHints;
  readonly requestedAt: number;
}

/** A call on its way: what is known of it before the reply. */
export interface OpenCall {
  readonly callId: string;
  readonly seq: number;
  readonly call: CallRequest;
  readonly plan: CallPlan;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly parse: ParseOptions;
}

/**
 * Makes one call: prompt from the tree, reply from the engine, record in the log; only then is there
 * a reply to send. A call that gives no sample is recorded as failed.
 * @throws EspalierError E_CONTEXT_LENGTH (not recorded: the policy was never asked), and what the
 * engine or the log reported
 */
export async function makeCall(
  ports: CallPorts,
  session: Session,
  call: CallRequest,
  signal: AbortSignal,
): Promise<MadeReply> {
  const open = openCall(ports, session, call);
  let sampled: GenerateResult;
  try {
    sampled = await sample(ports, session, open, signal);
    if (signal.aborted) throw signal.reason;
  } catch (error) {
    const cause: unknown = signal.aborted ? signal.reason : error;
    await recordFailure(ports, session, open, cause);
    throw cause;
  }
  const truncated = sampled.finishReason === 'length';
  const parsed = ports.model.parseReply(sampled.tokenIds, { ...open.parse, truncated });
  const event = calledEvent(session.claims, open, sampled, parsed, Date.now());
  await ports.crashPoint('proxy:before-append');
  try {
    await ports.log.append([{ topic: 'model-calls', event }]);
  } catch (error) {
    const refused = error instanceof EspalierError && error.code === 'E_LOG_RECORD_TOO_LARGE';
    if (refused) await recordFailure(ports, session, open, error);
    // Whether anything was written is not known: the log decides before the next call.
    else session.stale = true;
    throw error;
  }
  await ports.crashPoint('proxy:after-append');
  const reply = replyOf(event, call.request.model, parsed.stopString);
  recordCall(session, event, call.digest, reply);
  count(ports.counters, open, sampled, event.completedAt);
  return { callId: open.callId, reply };
}

function openCall(ports: CallPorts, session: Session, call: CallRequest): OpenCall {
  const plan = session.lineage.plan(call.request);
  const room = ports.maxContext - plan.inputIds.length;
  if (room < 1) {
    const message = `prompt is too long: ${plan.inputIds.length} tokens > ${ports.maxContext - 1} maximum`;
    throw new EspalierError('E_CONTEXT_LENGTH', message);
  }
  if (plan.forkReason !== null) {
    ports.counters.forks[plan.forkReason] += 1;
    const { rolloutId } = session.claims;
    ports.logger.info({ rolloutId, reason: plan.forkReason }, 'a call extends no recorded history');
  }
  const { temperature, maxTokens } = ports.sampling;
  const { stopStrings } = call.request;
  return {
    callId: newCallId(call.requestedAt),
    seq: session.nextSeq++,
    call,
    plan,
    temperature,
    maxTokens: Math.min(call.request.maxTokens ?? maxTokens, maxTokens, room),
    parse: { stopStrings, prefilled: plan.prefill !== '' },
  };
}

function sample(
  ports: CallPorts,
  session: Session,
  open: OpenCall,
  signal: AbortSignal,
): Promise<GenerateResult> {
  const { model } = ports;
  const atStop = (ids: ArrayLike<number>): boolean =>
    model.parseReply(Int32Array.from(ids), open.parse).stopString !== null;
  return generateWhole(ports.engine, {
    requestId: open.callId,
    inputIds: open.plan.inputIds,
    maxTokens: open.maxTokens,
    temperature: open.temperature,
    stopTokenIds: model.stopTokenIds,
    stickyKey: session.claims.rolloutId,
    signal,
    ...(open.call.request.stopStrings.length === 0 ? {} : { stopWhen: atStop }),
  });
}

async function recordFailure(
  ports: CallPorts,
  session: Session,
  open: OpenCall,
  error: unknown,
): Promise<void> {
  const { reason, detail } = failureReason(error);
  const { callId } = open;
  const { rolloutId } = session.claims;
  ports.counters.failures[reason] = (ports.counters.failures[reason] ?? 0) + 1;
  ports.logger.warn({ rolloutId, callId, reason, detail }, 'model call failed');
  try {
    const event = failedEvent(session.claims, open, reason, detail, Date.now());
    await ports.log.append([{ topic: 'model-calls', event }]);
    session.known.add(callId);
  } catch (failure) {
    ports.logger.error({ rolloutId, callId, err: failure }, 'a failed call could not be recorded');
  }
}

function count(counters: CallCounters, open: OpenCall, sampled: GenerateResult, completedAt: number): void {
  counters.calls += 1;
  counters.sampledTokens += sampled.tokenIds.length;
  counters.promptTokens += open.plan.inputIds.length;
  counters.engineMs += sampled.engineMs;
  counters.totalMs += completedAt - open.call.requestedAt;
}

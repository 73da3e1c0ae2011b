import { EspalierError } from '../../../schemas/errors.ts';
import type { Problem, ProblemKind } from '../dialects/dialect.ts';

/** Why the proxy itself ended a call. */
export class CallEnded extends Error {
  readonly reason: 'clientGone' | 'sealed' | 'shutdown';

  constructor(reason: 'clientGone' | 'sealed' | 'shutdown') {
    super(reason);
    this.reason = reason;
  }
}

/** More calls are running than the proxy takes on. */
export class Overloaded extends Error {}

const kinds: Readonly<Record<string, ProblemKind>> = {
  E_REQUEST: 'badRequest',
  E_REQUEST_TOO_LARGE: 'tooLarge',
  E_CONTEXT_LENGTH: 'contextLength',
  E_LOG_RECORD_TOO_LARGE: 'tooLarge',
  E_TOKEN_INVALID: 'unauthorized',
  E_TOKEN_EXPIRED: 'unauthorized',
  E_ROLLOUT_SEALED: 'forbidden',
  E_ENGINE: 'unavailable',
  E_ENGINE_REPLY: 'unavailable',
};

/** A failure in the words a harness may see. What is not known to be its own fault can be tried again. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Overloaded) return { kind: 'overloaded', message: error.message };
  if (error instanceof CallEnded) {
    const kind = error.reason === 'sealed' ? 'forbidden' : 'unavailable';
    return { kind, message: `the call was ended: ${error.reason}` };
  }
  if (!(error instanceof EspalierError))
    return { kind: 'unavailable', message: 'the call could not be served' };
  const kind = kinds[error.code] ?? 'unavailable';
  // Engine addresses are none of the harness's business.
  const message = kind === 'unavailable' ? 'the model is not available just now' : error.message;
  return { kind, message };
}

/** The reason that ModelCallFailed records. */
export function failureReason(error: unknown): { reason: string; detail: string } {
  if (error instanceof CallEnded) return { reason: error.reason, detail: error.message };
  const detail = error instanceof Error ? error.message : String(error);
  if (!(error instanceof EspalierError)) return { reason: 'proxy', detail };
  if (error.code === 'E_ENGINE') return { reason: 'engine', detail };
  if (error.code === 'E_ENGINE_REPLY') return { reason: 'engineReply', detail };
  if (error.code === 'E_LOG_RECORD_TOO_LARGE') return { reason: 'tooLarge', detail };
  return { reason: 'proxy', detail };
}

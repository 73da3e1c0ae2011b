import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Engine } from '../../../infra/engine/engine.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import { type RolloutClaims, verifyRolloutToken } from '../../../schemas/rolloutToken.ts';
import type { CallCounters } from '../delivery/callCounters.ts';
import type { CallDesk } from '../delivery/callDesk.ts';
import { parseBody, readBody } from './readBody.ts';
import { sendJson } from './sendReply.ts';

const bodyLimit = 1024 * 1024;
const refusals: ReadonlySet<string> = new Set(['E_REQUEST', 'E_REQUEST_TOO_LARGE', 'E_TOKEN_INVALID']);

/** What the control listener needs. */
export interface ControlListenerOptions {
  readonly desk: CallDesk;
  readonly engine: Engine;
  readonly counters: CallCounters;
  readonly credential: string;
  readonly secrets: readonly string[];
  readonly logger: Logger;
}

/** Sealing, health and metrics, behind a credential that no sandbox has. */
export function controlListener(options: ControlListenerOptions): RequestListener {
  return (request, response) => {
    handle(options, request, response).catch((error: unknown) => {
      const known = error instanceof EspalierError;
      if (!known) options.logger.error({ err: error }, 'control request failed');
      if (response.headersSent) return void response.destroy();
      if (!known) return sendJson(response, 500, { error: { message: 'the request could not be served' } });
      sendJson(response, refusals.has(error.code) ? 400 : 503, error.toJSON());
    });
  };
}

async function handle(
  options: ControlListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  if (path === '/health') {
    const engine = await options.engine.health();
    return sendJson(response, engine ? 200 : 503, { status: engine ? 'ok' : 'engineDown', engine });
  }
  if (!isCredential(request.headers.authorization, options.credential)) {
    return sendJson(
      response,
      401,
      new EspalierError('E_TOKEN_INVALID', 'no valid control credential').toJSON(),
    );
  }
  if (request.method === 'POST' && path === '/seal') {
    const claims = readClaims(parseBody(await readBody(request, bodyLimit)), options.secrets);
    return sendJson(response, 200, await options.desk.seal(claims));
  }
  if (request.method === 'GET' && path === '/metrics') {
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' });
    return void response.end(metricsText(options.counters, options.desk));
  }
  return sendJson(
    response,
    404,
    new EspalierError('E_REQUEST', `no route ${request.method} ${path}`).toJSON(),
  );
}

/** A seal names the attempt by its token (an expired one too) or by its claims. */
function readClaims(body: unknown, secrets: readonly string[]): RolloutClaims {
  const fields = (body ?? {}) as Partial<RolloutClaims> & { readonly token?: string };
  // A rollout that outlived its token must still be sealed.
  if (typeof fields.token === 'string') return verifyRolloutToken(fields.token, secrets, 0);
  const { runId, groupId, rolloutId, attempt } = fields;
  if (typeof runId !== 'string' || typeof groupId !== 'string' || typeof rolloutId !== 'string') {
    throw new EspalierError('E_REQUEST', 'give token, or runId, groupId, rolloutId and attempt');
  }
  if (typeof attempt !== 'number') throw new EspalierError('E_REQUEST', 'attempt must be a number');
  const { taskId = '', harness = '', startOffset = 0, issuedAt = 0 } = fields;
  return { runId, groupId, rolloutId, attempt, taskId, harness, startOffset, issuedAt, expiresAt: 0 };
}

function isCredential(header: string | undefined, credential: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(header ?? ''), hash(`Bearer ${credential}`));
}

function metricsText(counters: CallCounters, desk: CallDesk): string {
  const lines = [
    `espalier_proxy_calls_total ${counters.calls}`,
    `espalier_proxy_joined_total ${counters.joined}`,
    `espalier_proxy_replayed_total ${counters.replayed}`,
    `espalier_proxy_prompt_tokens_total ${counters.promptTokens}`,
    `espalier_proxy_sampled_tokens_total ${counters.sampledTokens}`,
    `espalier_proxy_engine_ms_total ${counters.engineMs}`,
    `espalier_proxy_overhead_ms_total ${Math.max(0, counters.totalMs - counters.engineMs)}`,
    `espalier_proxy_in_flight ${desk.inFlight}`,
    `espalier_proxy_rollouts_open ${desk.sessions}`,
    ...Object.entries(counters.forks).map(
      ([reason, n]) => `espalier_proxy_forks_total{reason="${reason}"} ${n}`,
    ),
    ...Object.entries(counters.failures).map(
      ([reason, n]) => `espalier_proxy_failures_total{reason="${reason}"} ${n}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

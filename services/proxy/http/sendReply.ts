import type { ServerResponse } from 'node:http';
import type { PendingReply } from '../delivery/callDesk.ts';
import { toProblem } from '../delivery/failure.ts';
import type { Dialect, Problem } from '../dialects/dialect.ts';
import type { CanonicalRequest } from '../lineage/canonicalRequest.ts';

const retryAfterSeconds = '1';

/**
 * Sends a reply once it is made. A stream begins with the first keep-alive or with the reply; until
 * then a failure is an ordinary error answer that clients try again.
 */
export async function sendReply(
  response: ServerResponse,
  dialect: Dialect,
  request: CanonicalRequest,
  pending: PendingReply,
  keepAliveMs: number,
): Promise<void> {
  let waiting = true;
  const leave = (): void => {
    if (waiting) pending.left();
    waiting = false;
  };
  response.on('close', leave);
  if (response.destroyed) leave();
  const timer = setInterval(() => {
    if (!request.stream || response.writableEnded) return;
    if (!response.headersSent) beginStream(response);
    response.write(dialect.keepAlive);
  }, keepAliveMs);
  try {
    const made = await pending.made;
    waiting = false;
    response.on('finish', () => pending.delivered(made.callId));
    if (!request.stream) sendJson(response, 200, dialect.toJson(made.reply), { 'request-id': made.callId });
    else {
      if (!response.headersSent) beginStream(response, made.callId);
      response.end(dialect.toSse(made.reply, request));
    }
  } catch (error) {
    waiting = false;
    if (response.headersSent) response.end(dialect.toSseError(toProblem(error)));
    else sendProblem(response, dialect, toProblem(error));
  } finally {
    clearInterval(timer);
  }
}

function beginStream(response: ServerResponse, callId?: string): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...(callId === undefined ? {} : { 'request-id': callId }),
  });
}

/** Sends an error in the dialect's shape. */
export function sendProblem(response: ServerResponse, dialect: Dialect, problem: Problem): void {
  const { status, body } = dialect.toError(problem);
  const again = status === 429 || status >= 500;
  sendJson(response, status, body, {
    ...(again ? { 'retry-after': retryAfterSeconds } : {}),
  });
}

/** Sends JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...headers,
  });
  response.end(bytes);
}

import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { EspalierError } from '../../../schemas/errors.ts';
import type { CallDesk } from '../delivery/callDesk.ts';
import { Overloaded, toProblem } from '../delivery/failure.ts';
import { readThreadHints } from '../delivery/threadHints.ts';
import { anthropic } from '../dialects/anthropic.ts';
import { chatCompletions } from '../dialects/chatCompletions.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { claimsOf, targetOf } from './identify.ts';
import { parseBody, readBody } from './readBody.ts';
import { sendJson, sendProblem, sendReply } from './sendReply.ts';

const bodyLimit = 32 * 1024 * 1024;

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly name: 'call' | 'countTokens' | 'models';
  readonly dialect: Dialect;
}

const routes: readonly Route[] = [
  { method: 'POST', path: /^(?:\/v1)?\/messages$/u, name: 'call', dialect: anthropic },
  { method: 'POST', path: /^(?:\/v1)?\/messages\/count_tokens$/u, name: 'countTokens', dialect: anthropic },
  { method: 'POST', path: /^(?:\/v1)?\/chat\/completions$/u, name: 'call', dialect: chatCompletions },
  { method: 'GET', path: /^(?:\/v1)?\/models(?:\/[^/]+)?$/u, name: 'models', dialect: chatCompletions },
];

/** What the model listener needs. */
export interface ModelListenerOptions {
  readonly desk: CallDesk;
  readonly secrets: readonly string[];
  readonly keepAliveMs: number;
  readonly logger: Logger;
}

/** The only thing a sandbox can reach: the dialects' routes, each for one rollout. */
export function modelListener(options: ModelListenerOptions): RequestListener {
  return (request, response) => {
    const requestedAt = Date.now();
    const target = targetOf(request);
    const route = routes.find(({ method, path }) => method === request.method && path.test(target.path));
    const spoken = 'anthropic-version' in request.headers ? anthropic : chatCompletions;
    const dialect = route?.name === 'models' ? spoken : (route?.dialect ?? spoken);
    handle(options, request, response, route, dialect, requestedAt).catch((error: unknown) => {
      const expected = error instanceof EspalierError || error instanceof Overloaded || response.destroyed;
      if (!expected) options.logger.error({ route: route?.name, err: error }, 'request failed');
      if (!response.headersSent) sendProblem(response, dialect, toProblem(error));
      else response.destroy();
    });
  };
}

async function handle(
  options: ModelListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  route: Route | undefined,
  dialect: Dialect,
  requestedAt: number,
): Promise<void> {
  const target = targetOf(request);
  const claims = claimsOf(target, options.secrets);
  if (route === undefined) {
    if (request.method === 'HEAD') return void response.writeHead(200).end();
    return sendProblem(response, dialect, {
      kind: 'notFound',
      message: `no route ${request.method} ${target.path}`,
    });
  }
  if (route.name === 'models') return sendJson(response, 200, modelList(target.path));
  const body = await readBody(request, bodyLimit);
  const canonical = dialect.readRequest(parseBody(body));
  if (route.name === 'countTokens') {
    return sendJson(response, 200, { input_tokens: await options.desk.countTokens(claims, canonical) });
  }
  const digest = createHash('sha256')
    .update(`${dialect.name}\n`)
    .update(body)
    .digest('base64url')
    .slice(0, 27);
  const hints = readThreadHints(request.headers);
  const call = { dialect: dialect.name, request: canonical, digest, hints, requestedAt };
  const pending = await options.desk.take(claims, call);
  await sendReply(response, dialect, canonical, pending, options.keepAliveMs);
}

/** One list that the SDKs of both vendors read. */
function modelList(path: string): object {
  const model = {
    id: 'policy',
    object: 'model',
    type: 'model',
    display_name: 'policy',
    created: 0,
    created_at: '1970-01-01T00:00:00Z',
    owned_by: 'espalier',
  };
  const named = path.match(/\/models\/([^/]+)$/u)?.[1];
  if (named !== undefined) return { ...model, id: decodeURIComponent(named) };
  return { object: 'list', data: [model], has_more: false, first_id: model.id, last_id: model.id };
}

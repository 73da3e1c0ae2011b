import type { IncomingMessage } from 'node:http';
import { EspalierError } from '../../../schemas/errors.ts';
import { type RolloutClaims, verifyRolloutToken } from '../../../schemas/rolloutToken.ts';

/** A request line without its token. */
export interface Target {
  /** Path without token, query and trailing slash. */
  readonly path: string;
  readonly token: string | undefined;
}

/** Takes the token off a request: from the path (`/r/<token>/...`), else from the API key headers. */
export function targetOf(request: IncomingMessage): Target {
  const raw = (request.url ?? '/').split('?')[0]!;
  const match = raw.match(/^\/r\/([^/]+)(\/.*)?$/u);
  const path = (match === null ? raw : (match[2] ?? '/')).replace(/(?<=.)\/+$/u, '');
  return { path, token: match?.[1] ?? keyOf(request) };
}

/** @throws EspalierError E_TOKEN_INVALID, E_TOKEN_EXPIRED */
export function claimsOf(target: Target, secrets: readonly string[]): RolloutClaims {
  if (target.token === undefined) throw new EspalierError('E_TOKEN_INVALID', 'no valid rollout token');
  return verifyRolloutToken(target.token, secrets, Date.now());
}

function keyOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  const bearer = authorization?.match(/^Bearer\s+(\S+)$/iu)?.[1];
  const header = request.headers['x-api-key'] ?? request.headers['api-key'];
  return (typeof header === 'string' ? header : undefined) ?? bearer;
}

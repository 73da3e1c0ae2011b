import { createHmac, timingSafeEqual } from 'node:crypto';
import { EspalierError } from './errors.ts';

/** Who a call belongs to: everything the proxy must know about a rollout, carried by its token. */
export interface RolloutClaims {
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  readonly attempt: number;
  readonly taskId: string;
  readonly harness: string;
  /** Epoch ms after which the token is refused. */
  readonly expiresAt: number;
  /** Offset of the group's partition of `model-calls` before the attempt's first call. */
  readonly startOffset: number;
  /** Epoch ms; nothing about the attempt is in the log from before. Absent: not known. */
  readonly issuedAt?: number;
}

const version = 'rt1';

/**
 * A token for a rollout attempt: `rt1.<claims>.<HMAC-SHA256>`, letters, digits, `-`, `_` and dots only,
 * so it fits an API key and a URL path.
 */
export function signRolloutToken(claims: RolloutClaims, secret: string): string {
  const {
    runId,
    groupId,
    rolloutId,
    attempt,
    taskId,
    harness,
    expiresAt,
    startOffset,
    issuedAt = 0,
  } = claims;
  const fields = [runId, groupId, rolloutId, attempt, taskId, harness, expiresAt, startOffset, issuedAt];
  const body = `${version}.${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
  return `${body}.${mac(body, secret)}`;
}

/**
 * The claims of a token signed with any of the secrets (the old one stays valid during rotation).
 * @param now epoch ms
 * @throws EspalierError E_TOKEN_INVALID (malformed or signed by someone else), E_TOKEN_EXPIRED
 */
export function verifyRolloutToken(token: string, secrets: readonly string[], now: number): RolloutClaims {
  const end = token.lastIndexOf('.');
  const body = token.slice(0, Math.max(end, 0));
  const given = Buffer.from(token.slice(end + 1));
  const genuine = secrets.some((secret) => {
    const expected = Buffer.from(mac(body, secret));
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  if (!genuine || !body.startsWith(`${version}.`)) throw invalid();
  const claims = readClaims(body.slice(version.length + 1));
  if (claims.expiresAt <= now) {
    throw new EspalierError('E_TOKEN_EXPIRED', `the token of rollout ${claims.rolloutId} has expired`);
  }
  return claims;
}

function readClaims(encoded: string): RolloutClaims {
  const fields: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
  if (!Array.isArray(fields) || fields.length < 9) throw invalid();
  const [runId, groupId, rolloutId, attempt, taskId, harness, expiresAt, startOffset, issuedAt] = fields as [
    string,
    string,
    string,
    number,
    string,
    string,
    number,
    number,
    number,
  ];
  return { runId, groupId, rolloutId, attempt, taskId, harness, expiresAt, startOffset, issuedAt };
}

function mac(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('base64url');
}

function invalid(): EspalierError {
  return new EspalierError('E_TOKEN_INVALID', 'no valid rollout token');
}

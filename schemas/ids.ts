import { createHash } from 'node:crypto';

/**
 * An id that anyone can derive again from its parents: 24 hex digits of SHA-256 over the parts.
 * Restarts and replays therefore name the same things the same way.
 */
function derivedId(prefix: string, ...parts: readonly (string | number)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const text = String(part);
    hash.update(`${Buffer.byteLength(text)}:${text}`);
  }
  return `${prefix}-${hash.digest('hex').slice(0, 24)}`;
}

/** Id of the `sequence`-th group that a run asks for. */
export function groupIdOf(runId: string, sequence: number, taskId: string, harness: string): string {
  return derivedId('g', runId, sequence, taskId, harness);
}

/** Id of the rollout at a place (from 0) of a group. */
export function rolloutIdOf(groupId: string, index: number): string {
  return derivedId('r', groupId, index);
}

/** Id of the batch with a number (from 0) of a run. */
export function batchIdOf(runId: string, batchNumber: number): string {
  return derivedId('b', runId, batchNumber);
}

/** Lower-case hex SHA-256 of bytes or UTF-8 text. */
export function sha256Hex(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}

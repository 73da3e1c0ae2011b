import type { IncomingMessage } from 'node:http';
import { EspalierError } from '../../../schemas/errors.ts';

/** How much more than the limit is read and thrown away, so that a client that only writes gets its answer. */
const patience = 4;

/**
 * The bytes of a request body.
 * @throws EspalierError E_REQUEST_TOO_LARGE beyond the limit
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size <= limit) chunks.push(chunk as Buffer);
    else chunks = [];
    if (size > patience * limit) break;
  }
  if (size <= limit) return Buffer.concat(chunks, size);
  throw new EspalierError('E_REQUEST_TOO_LARGE', `the request is larger than ${limit} bytes`);
}

/** The body as JSON. @throws EspalierError E_REQUEST */
export function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new EspalierError('E_REQUEST', 'the request body is no JSON');
  }
}

import { chmodSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { ERRORS, type ErrorCode, EspalierError } from '../../schemas/errors.ts';

/** Answers one kind of request; what it returns and takes must survive JSON. */
export type OwnerHandler = (params: unknown) => Promise<unknown>;

type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: string; readonly message: string; readonly fix: string } };

/**
 * Serves requests of other commands on a Unix socket: one JSON object a line, {method, params}, is
 * answered by one line, {result} or {error}. Only the same user can connect.
 */
export async function serveOwner(
  path: string,
  handlers: Readonly<Record<string, OwnerHandler>>,
): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    const lines = createInterface({ input: socket });
    // The interface repeats the errors of its socket, which are dealt with above.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      void answer(handlers, line).then((reply) => {
        if (!socket.destroyed) socket.write(`${JSON.stringify(reply)}\n`);
      });
    });
  });
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function answer(handlers: Readonly<Record<string, OwnerHandler>>, line: string): Promise<Reply> {
  try {
    const { method, params } = JSON.parse(line) as { method: string; params?: unknown };
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
    if (handler === undefined) throw new EspalierError('E_USAGE', `the owner does not answer ${method}`);
    return { result: (await handler(params)) ?? null };
  } catch (cause) {
    if (cause instanceof EspalierError) return cause.toJSON();
    return {
      error: { code: 'E_USAGE', message: cause instanceof Error ? cause.message : String(cause), fix: '' },
    };
  }
}

/**
 * Asks the owner of a data folder.
 * @throws EspalierError what the handler threw; E_DATA_DIR_OWNED when the owner does not answer
 */
export function askOwner(path: string, method: string, params: unknown = null): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    const fail = (cause?: unknown) =>
      reject(
        new EspalierError('E_DATA_DIR_OWNED', `the owner of the data folder does not answer on ${path}`, {
          cause,
        }),
      );
    socket.on('error', fail);
    socket.on('close', () => fail());
    socket.on('connect', () => socket.write(`${JSON.stringify({ method, params })}\n`));
    const lines = createInterface({ input: socket });
    lines.on('error', fail);
    lines.once('line', (line) => {
      const reply = JSON.parse(line) as Reply;
      if ('result' in reply) resolve(reply.result);
      else reject(errorOf(reply.error));
      socket.destroy();
    });
  });
}

function errorOf(error: { readonly code: string; readonly message: string; readonly fix: string }): Error {
  if (!(error.code in ERRORS)) return new Error(error.message);
  const options = error.fix === '' ? {} : { fix: error.fix };
  return new EspalierError(error.code as ErrorCode, error.message, options);
}

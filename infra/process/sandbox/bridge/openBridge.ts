import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Bridge {
  /** Directory that holds nothing but the socket `model`. */
  readonly directory: string;
  close(): Promise<void>;
}

/**
 * Opens a unix socket whose connections lead to 127.0.0.1:port and nowhere else. The path is short on purpose:
 * a socket's path is limited to about 100 bytes.
 */
export async function openBridge(port: number): Promise<Bridge> {
  const directory = mkdtempSync(join(tmpdir(), 'model-'));
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(join(directory, 'model'), listening);
  });
  return {
    directory,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((closed) => server.close(() => closed()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

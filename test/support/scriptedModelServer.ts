// A small HTTP server that plays a model endpoint from a script, one reply per request, and records requests.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedReply {
  readonly text?: string;
  readonly toolCalls?: readonly { id: string; name: string; input?: unknown; rawInput?: string }[];
  readonly inputTokens?: number;
  /** Answer with this status instead of a stream. */
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** reset: close the socket before any byte; noTerminal: end the stream without its last event. */
  readonly fault?: 'reset' | 'noTerminal' | 'errorEvent';
}

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a request body of either dialect
  readonly body: any;
}

export interface ScriptedModelServer {
  readonly url: string;
  readonly port: number;
  readonly requests: RecordedRequest[];
  close(): Promise<void>;
}

/** Writes one reply as the lines of a dialect's event stream; the last element is the terminal event. */
export type StreamWriter = (reply: ScriptedReply) => string[];

/** Serves `script(request, index)`; a script that is a list answers 400 after its end. */
export async function serveScript(
  write: StreamWriter,
  script: readonly ScriptedReply[] | ((request: RecordedRequest, index: number) => ScriptedReply),
): Promise<ScriptedModelServer> {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const recorded = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) };
    const index = requests.push(recorded) - 1;
    const reply = typeof script === 'function' ? script(recorded, index) : script[index];
    if (reply === undefined) response.writeHead(400).end('{"error":"the script is over"}');
    else if (reply.fault === 'reset') request.socket.destroy();
    else send(response, reply, write(reply));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/r/token`,
    port,
    requests,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

function send(response: ServerResponse, reply: ScriptedReply, events: string[]): void {
  if (reply.status !== undefined) {
    response.writeHead(reply.status, reply.headers).end('{"error":{"message":"scripted"}}');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers });
  if (reply.fault === 'errorEvent') {
    response.end('event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n');
    return;
  }
  const kept = reply.fault === 'noTerminal' ? events.slice(0, -1) : events;
  for (const event of kept) response.write(event);
  response.end();
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EspalierError } from '../../schemas/errors.ts';
import type { ScriptedReply } from './scriptedReply.ts';

/** The part of a model that the scripted engine needs. */
interface TextCodec {
  readonly eosTokenId: number;
  encode(text: string, options?: { readonly special?: boolean }): Int32Array;
  decode(ids: ArrayLike<number>): string;
}

/** A call that the engine received. */
export interface ScriptedCall {
  readonly inputIds: readonly number[];
  readonly maxTokens: number;
  readonly temperature: number;
  /** The client closed the connection before the reply was complete. */
  aborted: boolean;
}

/** A running scripted engine. */
export interface ScriptedEngine {
  readonly url: string;
  readonly calls: readonly ScriptedCall[];
  close(): Promise<void>;
}

/** What to serve, and where. */
export interface ScriptedEngineOptions {
  readonly script: readonly ScriptedReply[];
  readonly model: TextCodec;
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly host?: string;
  /** Stream disjoint pieces instead of ever longer ones. */
  readonly incremental?: boolean;
}

/**
 * Serves canned replies in the shape of SGLang's `/generate`. Each call takes the first unused reply
 * that fits it. When none is left the reply says so in plain text, which ends a harness's loop.
 * @throws EspalierError E_PORT_IN_USE
 */
export async function startScriptedEngine(options: ScriptedEngineOptions): Promise<ScriptedEngine> {
  const { model, host = '127.0.0.1', incremental = false } = options;
  const unused = [...options.script];
  const calls: ScriptedCall[] = [];
  let version = 'default';

  function take(prompt: string, index: number): ScriptedReply {
    const at = unused.findIndex(({ match }) =>
      match === undefined ? true : typeof match === 'number' ? match === index : prompt.includes(match),
    );
    const reply = unused[at];
    if (reply === undefined) return { text: 'The script has no reply left.' };
    if (reply.repeat !== true) unused.splice(at, 1);
    return reply;
  }

  async function generate(body: GenerateBody, response: ServerResponse): Promise<void> {
    const params = body.sampling_params ?? {};
    const call: ScriptedCall = {
      inputIds: body.input_ids,
      maxTokens: params.max_new_tokens ?? 128,
      temperature: params.temperature ?? 1,
      aborted: false,
    };
    const reply = take(model.decode(body.input_ids), calls.length);
    calls.push(call);
    response.on('close', () => {
      if (!response.writableFinished) call.aborted = true;
    });
    if (reply.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
    if (call.aborted) return;
    if (reply.status !== undefined) return sendJson(response, reply.status, { error: 'scripted failure' });
    const chunks = toChunks(reply, call, body.rid ?? '');
    if (body.stream !== true) return sendJson(response, 200, chunks.at(-1)!(false));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk(incremental))}\n\n`);
    response.end('data: [DONE]\n\n');
  }

  function toChunks(reply: ScriptedReply, call: ScriptedCall, rid: string): ((piece: boolean) => object)[] {
    let finish = reply.finishReason ?? 'stop';
    let ids = reply.tokenIds ?? [...model.encode(reply.text ?? '', { special: true })];
    if (finish === 'stop' && reply.tokenIds === undefined) ids = [...ids, model.eosTokenId];
    if (ids.length > call.maxTokens) {
      ids = ids.slice(0, call.maxTokens);
      finish = 'length';
    }
    const entries = ids.map((id, at) => [
      reply.logprobs === undefined ? -(1 + (id % 7)) / 8 : (reply.logprobs[at] ?? null),
      id,
      null,
    ]);
    const cuts = [Math.ceil(ids.length / 2), ids.length];
    return cuts.map((to, part) => (piece: boolean) => {
      const from = piece ? (part === 0 ? 0 : cuts[part - 1]!) : 0;
      return {
        text: model.decode(ids.slice(from, to)),
        output_ids: ids.slice(from, to),
        meta_info: {
          id: rid,
          prompt_tokens: call.inputIds.length,
          completion_tokens: to,
          output_token_logprobs: entries.slice(from, to),
          finish_reason: part === cuts.length - 1 ? { type: finish } : null,
          weight_version: reply.version ?? version,
          ...(reply.versions === undefined ? {} : { weight_versions: reply.versions }),
        },
      };
    });
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/health') return sendJson(response, 200, {});
    if (path === '/get_model_info') return sendJson(response, 200, { weight_version: version });
    const body = (await readJson(request)) as GenerateBody & { weight_version?: string };
    if (path === '/generate') return generate(body, response);
    if (path === '/update_weights_from_disk') {
      version = body.weight_version ?? version;
      return sendJson(response, 200, { success: true, message: '' });
    }
    return sendJson(response, 404, { error: 'unknown route' });
  }

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      if (!response.headersSent) sendJson(response, 400, { error: String(error) });
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(taken ? new EspalierError('E_PORT_IN_USE', `port ${options.port} is in use`) : error);
    });
    server.listen(options.port ?? 0, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface GenerateBody {
  readonly rid?: string;
  readonly input_ids: readonly number[];
  readonly stream?: boolean;
  readonly sampling_params?: { readonly max_new_tokens?: number; readonly temperature?: number };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

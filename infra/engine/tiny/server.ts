import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EspalierError } from '../../../schemas/errors.ts';
import { type Generation, type GenerationRequest, generate, type VersionedWeights } from './generation.ts';
import { BadBody, readGenerateBody } from './readGenerateBody.ts';
import { samplerScratch } from './sampleReply.ts';
import { decodeIds, loadVocabulary } from './vocabulary.ts';
import { deserializeWeights, type Weights } from './weights.ts';

/** A tiny policy that listens. */
export interface TinyEngine {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the tiny policy in SGLang's shapes: `/generate`, `/update_weights_from_disk`,
 * `/abort_request`, `/get_model_info`, `/health`. New weights take effect between two tokens. A client
 * that leaves ends its generation.
 * @throws EspalierError E_PORT_IN_USE
 */
export async function startTinyEngine(options: {
  readonly weights: Weights;
  readonly version: string;
  readonly port?: number;
}): Promise<TinyEngine> {
  const vocabulary = loadVocabulary();
  let current: VersionedWeights = { version: options.version, weights: options.weights };
  const running = new Map<string, Generation>();

  const answerGenerate = async (
    body: Readonly<Record<string, unknown>>,
    response: ServerResponse,
  ): Promise<void> => {
    const { request, stream } = readGenerateBody(vocabulary, body);
    const generation: Generation = {
      id: request.id,
      tokenIds: [],
      logprobs: [],
      spans: [],
      finish: undefined,
      matched: undefined,
    };
    running.set(request.id, generation);
    response.on('close', () => {
      if (!response.writableFinished) generation.finish ??= 'abort';
    });
    try {
      if (stream) response.writeHead(200, { 'content-type': 'text/event-stream' });
      for await (const state of generate(
        vocabulary,
        samplerScratch(vocabulary),
        () => current,
        request,
        generation,
      )) {
        if (stream) response.write(`data: ${JSON.stringify(replyOf(request, state))}\n\n`);
      }
      if (stream) response.end('data: [DONE]\n\n');
      else send(response, 200, replyOf(request, generation));
    } finally {
      running.delete(request.id);
    }
  };
  const replyOf = (request: GenerationRequest, g: Generation): object => ({
    text: decodeIds(vocabulary, g.tokenIds),
    output_ids: g.tokenIds,
    meta_info: {
      id: g.id,
      finish_reason:
        g.finish === undefined
          ? null
          : { type: g.finish, ...(g.matched === undefined ? {} : { matched: g.matched }) },
      prompt_tokens: request.inputIds.length,
      completion_tokens: g.tokenIds.length,
      output_token_logprobs: g.tokenIds.map((id, i) => [g.logprobs[i], id, null]),
      weight_version: g.spans.at(-1)?.version ?? current.version,
      weight_versions: g.spans,
    },
  });
  const updateWeights = async (body: Readonly<Record<string, unknown>>): Promise<object> => {
    const { model_path: path, weight_version: version } = body;
    if (typeof path !== 'string' || typeof version !== 'string')
      throw new BadBody('model_path and weight_version must be strings');
    const file = await readFile(path).catch((cause: Error) => {
      throw new BadBody(`cannot read ${path}: ${cause.message}`);
    });
    const weights = readWeights(path, file);
    if (weights.vocabularySize !== vocabulary.size)
      throw new BadBody(`${path} is for a vocabulary of ${weights.vocabularySize}`);
    current = { version, weights };
    return { success: true, message: `weights are version ${version}` };
  };
  const abort = (body: Readonly<Record<string, unknown>>): object => {
    const generation = running.get(String(body.rid));
    if (generation !== undefined) generation.finish ??= 'abort';
    return { success: generation !== undefined };
  };
  const server = createServer((message, response) => {
    void route(message, response).catch((error: unknown) => {
      const bad = error instanceof BadBody || error instanceof SyntaxError;
      if (response.headersSent) response.destroy();
      else
        send(response, bad ? 400 : 500, {
          error: { message: error instanceof Error ? error.message : String(error) },
        });
    });
  });
  const route = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = `${message.method} ${message.url}`;
    if (target === 'GET /health') send(response, 200, {});
    else if (target === 'GET /get_model_info') {
      send(response, 200, {
        model_path: 'tiny',
        vocab_size: vocabulary.size,
        weight_version: current.version,
      });
    } else if (target === 'POST /generate') await answerGenerate(await readBody(message), response);
    else if (target === 'POST /update_weights_from_disk')
      send(response, 200, await updateWeights(await readBody(message)));
    else if (target === 'POST /abort_request') send(response, 200, abort(await readBody(message)));
    else send(response, 404, { error: { message: `no route ${target}` } });
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE';
      reject(taken ? new EspalierError('E_PORT_IN_USE', `port ${options.port} is in use`, { cause }) : cause);
    });
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function readWeights(path: string, file: Uint8Array): Weights {
  try {
    return deserializeWeights(file);
  } catch (cause) {
    throw new BadBody(`${path}: ${(cause as Error).message}`);
  }
}

async function readBody(message: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new BadBody('the body must be an object');
  return body as Readonly<Record<string, unknown>>;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

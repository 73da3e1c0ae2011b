import { request as send } from 'undici';
import { EspalierError } from '../../schemas/errors.ts';
import type { Engine, GenerateRequest } from './engine.ts';
import { readSseData } from './readSseData.ts';
import { accumulateReply } from './sglangReply.ts';

const healthTimeoutMs = 5_000;

/**
 * An engine that speaks SGLang's `/generate`. Replies are always streamed from the engine, because
 * closing a stream is what makes it stop generating.
 * @param url base URL, e.g. http://127.0.0.1:30000
 */
export function sglangEngine(url: string): Engine {
  const base = url.replace(/\/+$/u, '');
  return {
    async generate(request) {
      const startedAt = performance.now();
      const response = await post(`${base}/generate`, generateBody(request), request.signal);
      const reply = accumulateReply();
      let stopped = false;
      try {
        for await (const data of readSseData(response.body)) {
          if (data === '[DONE]') break;
          reply.add(parseChunk(data));
          if (!reply.finished && request.stopWhen?.(reply.tokenIds) === true) {
            stopped = true;
            break;
          }
        }
      } catch (error) {
        throw request.signal.aborted ? request.signal.reason : asEngineError(base, error);
      } finally {
        response.body.destroy();
      }
      if (request.signal.aborted) throw request.signal.reason;
      return reply.result(performance.now() - startedAt, stopped);
    },

    async updateWeights(version, path) {
      const body = {
        model_path: path,
        weight_version: version,
        abort_all_requests: false,
        flush_cache: true,
      };
      const response = await post(`${base}/update_weights_from_disk`, body, undefined);
      const answer = (await response.body.json().catch(() => ({}))) as {
        success?: boolean;
        message?: string;
      };
      if (answer.success === false) {
        throw new EspalierError(
          'E_ENGINE',
          `${base} did not load version ${version}: ${answer.message ?? ''}`,
        );
      }
    },

    async health() {
      try {
        const response = await send(`${base}/health`, { signal: AbortSignal.timeout(healthTimeoutMs) });
        await response.body.dump();
        return response.statusCode === 200;
      } catch {
        return false;
      }
    },
  };
}

function generateBody(request: GenerateRequest): object {
  return {
    rid: request.requestId,
    input_ids: Array.from(request.inputIds),
    sampling_params: {
      max_new_tokens: request.maxTokens,
      temperature: request.temperature,
      top_p: 1,
      top_k: -1,
      stop_token_ids: request.stopTokenIds,
      no_stop_trim: true,
      skip_special_tokens: false,
    },
    return_logprob: true,
    logprob_start_len: -1,
    top_logprobs_num: 0,
    return_text_in_logprobs: false,
    stream: true,
  };
}

async function post(url: string, body: object, signal: AbortSignal | undefined): ReturnType<typeof send> {
  let response: Awaited<ReturnType<typeof send>>;
  try {
    response = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : asEngineError(url, error);
  }
  if (response.statusCode === 200) return response;
  const text = (await response.body.text().catch(() => '')).slice(0, 300);
  throw new EspalierError('E_ENGINE', `${url} answered ${response.statusCode} ${text}`);
}

function asEngineError(url: string, error: unknown): EspalierError {
  if (error instanceof EspalierError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new EspalierError('E_ENGINE', `${url} cannot be reached or broke off: ${why}`, { cause: error });
}

function parseChunk(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new EspalierError('E_ENGINE_REPLY', 'the engine streamed something that is no JSON');
  }
}

import { EspalierError } from '../../schemas/errors.ts';
import type { PolicySpan } from '../../schemas/generated/events.ts';
import type { GenerateResult } from './engine.ts';

/** What SGLang writes where it has no log-probability. */
const nullLogprob = -9999;

/** Collects the chunks of one `/generate` stream, whichever way the server streams. */
export interface ReplyAccumulator {
  /** @throws EspalierError E_ENGINE_REPLY when a chunk fits neither way of streaming */
  add(chunk: unknown): void;
  readonly tokenIds: ArrayLike<number>;
  readonly finished: boolean;
  /** @param stopped the caller ended the reply; @throws EspalierError E_ENGINE_REPLY */
  result(engineMs: number, stopped: boolean): GenerateResult;
}

/**
 * SGLang streams cumulatively by default and in disjoint pieces with `--incremental-streaming-output`,
 * and some builds do one for ids and the other for log-probabilities. `completion_tokens` is always
 * the running total, so it tells which: each list is either as long as the total or what is missing.
 */
export function accumulateReply(): ReplyAccumulator {
  let ids: number[] = [];
  let logprobs: number[] = [];
  let outputIds: number[] = [];
  let finish: string | undefined;
  let message = '';
  let spans: readonly PolicySpan[] | undefined;
  let version: string | undefined;

  return {
    get tokenIds() {
      return ids;
    },
    get finished() {
      return finish !== undefined;
    },
    add(chunk) {
      const body = asObject(chunk);
      if (body.error !== undefined) throw broken(`the engine reported ${JSON.stringify(body.error)}`);
      const meta = asObject(body.meta_info);
      const reason = meta.finish_reason;
      if (typeof reason === 'string') finish = reason;
      else if (reason !== null && reason !== undefined) {
        finish = String(asObject(reason).type);
        message = String(asObject(reason).message ?? '');
      }
      const entries = Array.isArray(meta.output_token_logprobs) ? meta.output_token_logprobs : [];
      const pairs = entries.map(readEntry);
      const total = typeof meta.completion_tokens === 'number' ? meta.completion_tokens : undefined;
      const newIds = merge(
        ids,
        pairs.map((pair) => pair.id),
        total,
      );
      logprobs = newIds.replaced
        ? pairs.map((pair) => pair.logprob)
        : [...logprobs, ...pairs.map((pair) => pair.logprob)];
      ids = newIds.list;
      // An aborted reply may come with its last id only; the log-probabilities still have them all.
      if (Array.isArray(body.output_ids) && finish !== 'abort') {
        outputIds = merge(outputIds, body.output_ids as number[], total).list;
      } else if (finish === 'abort') outputIds = ids;
      const named = readSpans(meta.weight_versions);
      if (named !== undefined) spans = named;
      if (meta.weight_version !== undefined && meta.weight_version !== null)
        version = String(meta.weight_version);
    },
    result(engineMs, stopped) {
      if (finish === undefined && !stopped) throw broken('the stream ended before the reply did');
      if (
        outputIds.length > 0 &&
        (outputIds.length !== ids.length || outputIds.some((id, at) => id !== ids[at]))
      ) {
        throw broken('token ids and log-probabilities belong to different tokens');
      }
      if (finish !== undefined && finish !== 'abort' && ids.length === 0)
        throw broken('the reply has no tokens');
      const reason = stopped || finish === 'stop' ? 'stop' : finish === 'length' ? 'length' : 'abort';
      if (finish !== undefined && !['stop', 'length', 'abort'].includes(finish)) {
        throw broken(`unknown finish reason ${finish} ${message}`);
      }
      return {
        tokenIds: Int32Array.from(ids),
        logprobs: Float32Array.from(logprobs),
        logprobsMode: 'processed',
        policySpans: fitSpans(spans, version, ids.length),
        finishReason: reason,
        engineMs,
      };
    },
  };
}

function merge(
  have: readonly number[],
  given: readonly number[],
  total: number | undefined,
): { list: number[]; replaced: boolean } {
  const replaces =
    total === undefined ? startsWith(given, have) : given.length === total && startsWith(given, have);
  if (replaces) return { list: [...given], replaced: true };
  if (total === undefined || have.length + given.length === total || given.length === 0) {
    return { list: [...have, ...given], replaced: false };
  }
  throw broken(`a chunk of ${given.length} tokens after ${have.length} does not make ${total}`);
}

function startsWith(list: readonly number[], prefix: readonly number[]): boolean {
  return list.length >= prefix.length && prefix.every((id, at) => list[at] === id);
}

function readEntry(entry: unknown): { id: number; logprob: number } {
  const [logprob, id] = Array.isArray(entry) ? (entry as unknown[]) : [];
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 0) throw broken('a token has no id');
  if (typeof logprob !== 'number' || !Number.isFinite(logprob) || logprob <= nullLogprob || logprob > 1e-3) {
    throw broken(`token ${id} has no log-probability`);
  }
  return { id, logprob: Math.min(logprob, 0) };
}

function readSpans(value: unknown): readonly PolicySpan[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.map((item) => {
    const { version, start, end } = asObject(item);
    if (typeof start !== 'number' || typeof end !== 'number') throw broken('a weight version has no range');
    return { version: String(version), start, end };
  });
}

/** Spans must cover the tokens without gap or overlap; without any, one label covers all. */
function fitSpans(
  spans: readonly PolicySpan[] | undefined,
  version: string | undefined,
  length: number,
): readonly PolicySpan[] {
  if (length === 0) return [];
  if (spans === undefined) return [{ version: version ?? 'default', start: 0, end: length }];
  const fitted: PolicySpan[] = [];
  let at = 0;
  for (const span of spans) {
    if (span.start >= length || span.end <= span.start) continue;
    if (span.start !== at) throw broken('weight versions leave a gap between tokens');
    at = Math.min(span.end, length);
    fitted.push({ ...span, end: at });
  }
  if (at !== length) throw broken('weight versions do not cover all tokens');
  return fitted;
}

function asObject(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}

function broken(what: string): EspalierError {
  return new EspalierError('E_ENGINE_REPLY', what);
}

import type { PolicySpan } from '../../schemas/generated/events.ts';

/** Tokens in. */
export interface GenerateRequest {
  readonly requestId: string;
  readonly inputIds: Int32Array;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly stopTokenIds: readonly number[];
  /** Keeps the calls of one rollout on one replica, for its prefix cache. */
  readonly stickyKey?: string;
  readonly signal: AbortSignal;
  /** Asked while tokens arrive, where the engine streams them: true ends the reply there, as a stop. */
  readonly stopWhen?: (tokenIds: ArrayLike<number>) => boolean;
}

/** Tokens and log-probabilities out. */
export interface GenerateResult {
  readonly tokenIds: Int32Array;
  /** Natural log, one per token id, at the sampling temperature unless `logprobsMode` is raw. */
  readonly logprobs: Float32Array;
  readonly logprobsMode: 'processed' | 'raw';
  readonly policySpans: readonly PolicySpan[];
  readonly finishReason: 'stop' | 'length' | 'abort';
  readonly engineMs: number;
}

/**
 * An inference engine that takes and returns token ids. A reply with a missing, null, NaN or -9999
 * log-probability, or with ids and log-probabilities of unequal length, is an error.
 */
export interface Engine {
  /** @throws EspalierError E_ENGINE (unreachable, 5xx; retryable), E_ENGINE_REPLY (unusable reply) */
  generate(request: GenerateRequest): Promise<GenerateResult>;
  /** Loads new weights under a version name; resolves when later tokens are sampled from them. */
  updateWeights(version: string, path: string): Promise<void>;
  health(): Promise<boolean>;
}

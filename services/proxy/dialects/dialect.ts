import type { ToolCall } from '../../../schemas/generated/events.ts';
import type { CanonicalRequest } from '../lineage/canonicalRequest.ts';

/** A reply before it gets a wire format. */
export interface CanonicalReply {
  /** Letters and digits. */
  readonly id: string;
  /** The model name the harness asked for. */
  readonly model: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly reasoning: string | null;
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'stop_string';
  readonly stopString: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Kinds of failure, each with the status and shape that a dialect's SDK understands. */
export type ProblemKind =
  | 'badRequest'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'tooLarge'
  | 'contextLength'
  | 'overloaded'
  | 'unavailable'
  | 'internal';

/** A failure as the harness is to see it. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly message: string;
}

/** An HTTP answer in a dialect's error shape. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: object;
}

/** A wire format: a pure pair of reading requests and writing replies. */
export interface Dialect {
  readonly name: string;
  /** @throws EspalierError E_REQUEST naming the part that cannot be used */
  readRequest(body: unknown): CanonicalRequest;
  toJson(reply: CanonicalReply): object;
  /** The whole stream, terminal event last. */
  toSse(reply: CanonicalReply, request: CanonicalRequest): string;
  /** Sent while the reply is being made. */
  readonly keepAlive: string;
  toError(problem: Problem): ErrorAnswer;
  /** A failure after the stream began. */
  toSseError(problem: Problem): string;
}

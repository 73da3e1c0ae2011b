import type { ToolDefinition } from '../../../schemas/canonical.ts';
import type { Message } from '../../../schemas/generated/events.ts';

/** A model request with its wire format taken off. */
export interface CanonicalRequest {
  /** The model name the harness used; echoed, never interpreted. */
  readonly model: string;
  /** All system text that stands before the first other message. */
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  /** Everything else, in order; system messages in mid-conversation keep their place. */
  readonly messages: readonly Message[];
  readonly stream: boolean;
  /** Chat Completions only: send usage in a last chunk. */
  readonly includeUsage: boolean;
  readonly maxTokens: number | null;
  readonly stopStrings: readonly string[];
  /** Asked for by parameters that would bend the sampling; told to the policy in the prompt only. */
  readonly notes: readonly string[];
  /** Sampling parameters as the harness sent them. */
  readonly requestedSampling: Readonly<Record<string, unknown>>;
}

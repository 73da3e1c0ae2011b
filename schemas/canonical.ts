import type { Message, ToolCall } from './generated/events.ts';

/** A function the harness offers to the policy. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: unknown;
}

/** A canonical message of a role with plain text. */
export function textMessage(role: 'system' | 'user', content: string): Message {
  return { role, content, reasoning: null, toolCalls: [], toolCallId: null, name: null };
}

/** A canonical assistant message. */
export function assistantMessage(
  content: string,
  toolCalls: readonly ToolCall[] = [],
  reasoning: string | null = null,
): Message {
  return { role: 'assistant', content, reasoning, toolCalls, toolCallId: null, name: null };
}

/** A canonical tool result; `name` is the tool's name where it is known. */
export function toolMessage(toolCallId: string, content: string, name: string | null = null): Message {
  return { role: 'tool', content, reasoning: null, toolCalls: [], toolCallId, name };
}

/** JSON text with sorted object keys: equal values give equal text whatever order they came in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(
          Object.entries(inner as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
        )
      : inner,
  );
}

import type { IncomingHttpHeaders } from 'node:http';

/** What the request headers tell of the thread a call belongs to. */
export interface ThreadHints {
  readonly threadKey: string | null;
  readonly agentId: string | null;
  readonly parentAgentId: string | null;
  /** An SDK says that it sends the same request again because it got no usable answer. */
  readonly isRetry: boolean;
  /** Headers worth keeping; never one that carries a credential. */
  readonly headers: Readonly<Record<string, string>>;
}

const kept = [
  'user-agent',
  'anthropic-beta',
  'x-claude-code-agent-id',
  'x-claude-code-session-id',
  'x-session-id',
  'x-parent-session-id',
  'session-id',
  'thread-id',
  'x-codex-parent-thread-id',
  'x-openai-subagent',
  'x-codex-turn-metadata',
  'x-codex-window-id',
];

/** Reads the hints that known harnesses send; absent ones are null. */
export function readThreadHints(headers: IncomingHttpHeaders): ThreadHints {
  const present: Record<string, string> = {};
  for (const name of kept) {
    const value = headers[name];
    if (typeof value === 'string') present[name] = value;
  }
  return {
    threadKey: present['thread-id'] ?? present['x-session-id'] ?? null,
    agentId: present['x-claude-code-agent-id'] ?? present['x-openai-subagent'] ?? null,
    parentAgentId: present['x-parent-session-id'] ?? present['x-codex-parent-thread-id'] ?? null,
    isRetry: Number(headers['x-stainless-retry-count'] ?? 0) > 0,
    headers: present,
  };
}

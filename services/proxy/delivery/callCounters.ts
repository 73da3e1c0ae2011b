import type { ForkReason } from '../lineage/lineage.ts';

/** What the proxy counts; read by the metrics route. */
export interface CallCounters {
  calls: number;
  joined: number;
  replayed: number;
  promptTokens: number;
  sampledTokens: number;
  engineMs: number;
  totalMs: number;
  readonly forks: Record<ForkReason, number>;
  readonly failures: Record<string, number>;
}

/** All counts at zero. */
export function newCounters(): CallCounters {
  return {
    calls: 0,
    joined: 0,
    replayed: 0,
    promptTokens: 0,
    sampledTokens: 0,
    engineMs: 0,
    totalMs: 0,
    forks: { context: 0, history: 0, start: 0 },
    failures: {},
  };
}

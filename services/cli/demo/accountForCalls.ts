import type { EspalierEvent } from '../../../schemas/generated/events.ts';

/** What became of everything that was captured in a run. */
export interface Account {
  rollouts: number;
  calls: number;
  /** Calls in kept paths of trained rollouts. */
  kept: number;
  /** Every other call, by the reason that settled its fate. */
  readonly dropped: Record<string, number>;
  batches: number;
  readonly tokens: { sampled: number; trained: number };
}

/**
 * Adds up a run: each captured call is counted once, as kept or under one reason, so that
 * `calls = kept + all dropped`. What happened to its rollout or group overrides its own verdict.
 */
export function accountForCalls(events: Iterable<EspalierEvent>): Account {
  const account: Account = {
    rollouts: 0,
    calls: 0,
    kept: 0,
    dropped: {},
    batches: 0,
    tokens: { sampled: 0, trained: 0 },
  };
  const calls = new Map<string, { readonly group: string; readonly rollout: string }>();
  const verdicts = new Map<string, string | null>();
  const rollouts = new Map<string, string>();
  const groups = new Map<string, string>();
  const trained = new Set<string>();
  const requested = new Set<string>();
  for (const event of events) {
    switch (event.type) {
      case 'RolloutRequested':
        requested.add(event.rolloutId);
        break;
      case 'ModelCalled':
        account.tokens.sampled += event.sampledTokenIds.length;
        calls.set(event.callId, { group: event.groupId, rollout: `${event.rolloutId}/${event.attempt}` });
        break;
      case 'ModelCallFailed':
        calls.set(event.callId, { group: event.groupId, rollout: `${event.rolloutId}/${event.attempt}` });
        break;
      case 'TreeJudged':
        for (const v of event.verdicts) verdicts.set(v.callId, v.verdict === 'dropped' ? v.reason : null);
        break;
      case 'RolloutDropped':
        rollouts.set(`${event.rolloutId}/${event.attempt ?? 0}`, event.reason);
        break;
      case 'GroupDropped':
        groups.set(event.groupId, event.reason);
        break;
      case 'TrainingSample':
        trained.add(`${event.rolloutId}/${event.attempt}`);
        account.tokens.trained += event.tokens.trained;
        break;
      case 'TrainingBatchCut':
        account.batches++;
        break;
    }
  }
  account.rollouts = requested.size;
  account.calls = calls.size;
  for (const [callId, { group, rollout }] of calls) {
    const own = verdicts.get(callId);
    const reason =
      own === undefined
        ? 'notJudged'
        : (own ?? rollouts.get(rollout) ?? groups.get(group) ?? (trained.has(rollout) ? null : 'notTrained'));
    if (reason === null) account.kept++;
    else account.dropped[reason] = (account.dropped[reason] ?? 0) + 1;
  }
  return account;
}

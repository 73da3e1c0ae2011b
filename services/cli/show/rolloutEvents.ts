import type { EventLog } from '../../../infra/log/eventLog.ts';
import type {
  EspalierEvent,
  EventType,
  GroupDropped,
  GroupScored,
  ModelCalled,
  ModelCallFailed,
  RewardGiven,
  RolloutDropped,
  RolloutEnded,
  RolloutRequested,
  RolloutScored,
  RolloutSealed,
  RolloutSettled,
  RolloutStarted,
  RunConfigured,
  TrainingSample,
  TreeJudged,
  VerificationFailed,
} from '../../../schemas/generated/events.ts';
import { readEvents } from '../events/readEvents.ts';

/** All events that concern one rollout, by type, in the order of the log. */
export interface RolloutEvents {
  readonly requested: readonly RolloutRequested[];
  readonly started: readonly RolloutStarted[];
  readonly sealed: readonly RolloutSealed[];
  readonly ended: readonly RolloutEnded[];
  readonly settled: readonly RolloutSettled[];
  readonly calls: readonly ModelCalled[];
  readonly failedCalls: readonly ModelCallFailed[];
  readonly rewards: readonly RewardGiven[];
  readonly verificationsFailed: readonly VerificationFailed[];
  readonly judged: readonly TreeJudged[];
  readonly dropped: readonly RolloutDropped[];
  readonly scored: readonly RolloutScored[];
  readonly groupScored: readonly GroupScored[];
  readonly groupDropped: readonly GroupDropped[];
  readonly samples: readonly TrainingSample[];
  readonly configured: readonly RunConfigured[];
}

/** Sorts events into the lists above. */
export function rolloutEvents(events: Iterable<EspalierEvent>): RolloutEvents {
  const all = [...events];
  const of = <T extends EventType>(type: T) =>
    all.filter((event): event is Extract<EspalierEvent, { readonly type: T }> => event.type === type);
  return {
    requested: of('RolloutRequested'),
    started: of('RolloutStarted'),
    sealed: of('RolloutSealed'),
    ended: of('RolloutEnded'),
    settled: of('RolloutSettled'),
    calls: of('ModelCalled'),
    failedCalls: of('ModelCallFailed'),
    rewards: of('RewardGiven'),
    verificationsFailed: of('VerificationFailed'),
    judged: of('TreeJudged'),
    dropped: of('RolloutDropped'),
    scored: of('RolloutScored'),
    groupScored: of('GroupScored'),
    groupDropped: of('GroupDropped'),
    samples: of('TrainingSample'),
    configured: of('RunConfigured'),
  };
}

/** Reads what a log holds about one rollout, its group and the configuration of its run. */
export async function readRolloutEvents(
  log: EventLog,
  ids: { readonly runId: string; readonly groupId: string; readonly rolloutId: string },
): Promise<RolloutEvents> {
  const { runId, groupId, rolloutId } = ids;
  const events: EspalierEvent[] = [];
  const collect = async (filter: Parameters<typeof readEvents>[1]): Promise<void> => {
    for await (const { event } of readEvents(log, filter)) events.push(event);
  };
  await collect({ topics: ['rollout-requests', 'rollouts', 'model-calls', 'rewards'], rolloutId });
  await collect({ topics: ['verdicts', 'scored-groups', 'training-batches'], rolloutId });
  await collect({ topics: ['scored-groups'], groupId, types: ['GroupScored', 'GroupDropped'] });
  await collect({ topics: ['scored-groups'], runId, types: ['RunConfigured'] });
  if (!events.some((event) => event.type === 'GroupDropped')) {
    await collect({ topics: ['verdicts'], groupId, types: ['GroupDropped'] });
  }
  return rolloutEvents(events);
}

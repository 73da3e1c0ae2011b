import type { CallVerdict } from '../../../schemas/generated/events.ts';
import type { PolicyVersions } from '../../../streams/pipelineConfig.ts';
import type { PrefixNode } from '../../../streams/tree/prefixTree.ts';
import { agreesWith, type JudgedAttempt, judgeRecorded } from './judgeRecorded.ts';
import type { RolloutEvents } from './rolloutEvents.ts';
import type { AsideCall, ShownAttempt, ShownCall } from './shownRollout.ts';

/** Text of token ids. */
export type Decode = (ids: ArrayLike<number>) => string;

/** What describing a rollout needs besides its events. */
export interface DescribeOptions {
  /** Text of token ids; null where the tokenizer of the run is not at hand. */
  readonly decode: Decode | null;
  readonly maxLeaves: number;
  readonly versions: PolicyVersions;
}

/** One attempt of a rollout, its tree judged anew. */
export function describeAttempt(
  events: RolloutEvents,
  attempt: number,
  instruction: string | null,
  options: DescribeOptions,
): ShownAttempt {
  const own = <T extends { readonly attempt: number | null }>(list: readonly T[]): readonly T[] =>
    list.filter((event) => event.attempt === attempt);
  const { versions, maxLeaves } = options;
  const judged = judgeRecorded(events, attempt, { instruction, versions, maxLeaves });
  const { tree, judgement, verdicts, keeps } = judged;
  const open = events.settled.length === 0;
  const byCall = new Map(verdicts.map((verdict) => [verdict.callId, verdict]));
  const calls = tree.nodes.flatMap((node) => {
    const verdict = byCall.get(node.call.callId);
    return verdict === undefined ? [] : [describeCall(node, verdict, judged, options.decode)];
  });
  const recorded = own(events.judged);
  const dropped = own(events.dropped)[0];
  const reward = own(events.rewards)[0];
  return {
    attempt,
    isolation: own(events.started)[0]?.isolation ?? null,
    outcome: own(events.ended)[0]?.outcome ?? null,
    reward: reward?.reward ?? null,
    criteria: reward?.criteria ?? {},
    verificationFailed: own(events.verificationsFailed)[0]?.reason ?? null,
    segments: judgement.segments,
    leaves: judgement.leaves,
    drop: dropped?.reason ?? judgement.drop,
    dropDetail: dropped?.detail ?? recorded[0]?.diagnostic ?? judgement.detail,
    calls,
    aside: verdicts.filter(({ callId }) => !tree.byId.has(callId)).map((v) => asideCall(events, v)),
    verdictsAgree: recorded.length === 0 ? null : agreesWith(judged, recorded),
    tokens: {
      total: calls.reduce((sum, call) => sum + call.envTokenIds.length + call.sampledTokenIds.length, 0),
      sampled: calls.reduce((sum, call) => sum + call.sampledTokenIds.length, 0),
      // Before the rollout is settled, what would be trained.
      trained: keeps || (open && judgement.drop === null) ? judgement.trainedTokens : 0,
    },
  };
}

function describeCall(
  node: PrefixNode,
  verdict: { readonly kind: string; readonly verdict: string; readonly reason: string | null },
  { segmentOf }: JudgedAttempt,
  decode: Decode | null,
): ShownCall {
  const { call } = node;
  const segment = segmentOf.get(node);
  return {
    callId: call.callId,
    seq: call.seq,
    parentCallId: node.parent?.call.callId ?? null,
    kind: verdict.kind,
    verdict: verdict.verdict,
    reason: verdict.reason,
    segment: segment?.number ?? null,
    opens: segment?.opens ?? null,
    finishReason: call.finishReason,
    policyVersions: [...new Set(call.policySpans.map((span) => span.version))],
    inputTokens: node.inputLength,
    envTokenIds: Array.from(node.envTokenIds),
    sampledTokenIds: Array.from(call.sampledTokenIds),
    envText: decode?.(node.envTokenIds) ?? null,
    sampledText: decode?.(call.sampledTokenIds) ?? null,
  };
}

/** A call that is in no tree: it failed, came after the seal, or extends a call that is not there. */
function asideCall(events: RolloutEvents, { callId, verdict, reason }: CallVerdict): AsideCall {
  const failed = events.failedCalls.find((call) => call.callId === callId);
  const called = events.calls.find((call) => call.callId === callId);
  const said = [failed?.reason, failed?.detail].filter((text) => text !== undefined && text !== null);
  return {
    callId,
    seq: failed?.seq ?? called?.seq ?? -1,
    verdict,
    reason,
    detail: said.length === 0 ? null : said.join(': '),
  };
}

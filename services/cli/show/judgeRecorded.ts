import { isDeepStrictEqual } from 'node:util';
import type { CallVerdict, TreeJudged } from '../../../schemas/generated/events.ts';
import { type AttemptState, absorb, emptyGroup } from '../../../streams/group/groupState.ts';
import { type AttemptJudgement, allDropped, judgeAttempt } from '../../../streams/group/judgeAttempt.ts';
import { classify } from '../../../streams/judge/classify.ts';
import type { JudgeFacts } from '../../../streams/judge/judge.ts';
import type { Segment } from '../../../streams/judge/segment.ts';
import { emptyTree } from '../../../streams/tree/callTree.ts';
import { evolve } from '../../../streams/tree/evolve.ts';
import { finishTree, type PrefixNode, type PrefixTree } from '../../../streams/tree/prefixTree.ts';
import type { RolloutEvents } from './rolloutEvents.ts';

/** A call's segment of the main thread. */
export interface CallSegment {
  /** From 1. */
  readonly number: number;
  /** Why the segment begins at this call; null where it does not. */
  readonly opens: Segment['opening'] | null;
}

/** The tree of an attempt with the verdicts that the pipeline's own code gives. */
export interface JudgedAttempt {
  readonly tree: PrefixTree;
  readonly judgement: AttemptJudgement;
  /** The final verdict on every received call, those outside the tree included. */
  readonly verdicts: readonly CallVerdict[];
  /** Whether something of it is trained, unless its group is dropped. */
  readonly keeps: boolean;
  readonly segmentOf: ReadonlyMap<PrefixNode, CallSegment>;
}

/** Grows the tree of an attempt from the recorded events and judges it anew. */
export function judgeRecorded(
  events: RolloutEvents,
  attempt: number,
  facts: Omit<JudgeFacts, 'undelivered'>,
): JudgedAttempt {
  const judgement = judgeAttempt(stateOf(events, attempt), facts);
  const late = new Set(judgement.verdicts.filter((v) => v.reason === 'late').map((v) => v.callId));
  const inTime = events.calls.filter((call) => call.attempt === attempt && !late.has(call.callId));
  const tree = finishTree(inTime.reduce(evolve, emptyTree()));
  const settled = events.settled[0];
  const lost = judgement.incomplete !== null || judgement.drop !== null;
  const dropped = events.dropped.some((event) => event.attempt === attempt);
  const keeps = !lost && !dropped && (settled === undefined || settled.scoredAttempt === attempt);
  const verdicts = keeps || settled === undefined ? judgement.verdicts : allDropped(judgement.verdicts);
  return { tree, judgement, verdicts, keeps, segmentOf: segmentsOf(tree, facts.instruction) };
}

/** Whether the verdicts made anew are those on record; a late call has a record of its own. */
export function agreesWith(judged: JudgedAttempt, recorded: readonly TreeJudged[]): boolean {
  const byCall = (verdicts: readonly CallVerdict[]) =>
    new Map(verdicts.map((verdict) => [verdict.callId, verdict]));
  return isDeepStrictEqual(byCall(judged.verdicts), byCall(recorded.flatMap(({ verdicts }) => verdicts)));
}

function stateOf(events: RolloutEvents, attempt: number): AttemptState {
  const group = emptyGroup('');
  const { requested, sealed, settled, calls, failedCalls, rewards } = events;
  for (const event of [...requested, ...sealed, ...settled, ...calls, ...failedCalls, ...rewards]) {
    absorb(group, event);
  }
  const [rollout] = group.rollouts.values();
  const empty = {
    tree: emptyTree(),
    failed: new Map(),
    unreadable: new Set<string>(),
    sealed: null,
    reward: null,
  };
  return rollout?.attempts.get(attempt) ?? empty;
}

function segmentsOf(tree: PrefixTree, instruction: string | null): Map<PrefixNode, CallSegment> {
  const segmentOf = new Map<PrefixNode, CallSegment>();
  classify(tree, instruction).segments.forEach((segment, i) => {
    segment.nodes.forEach((node, at) => {
      segmentOf.set(node, { number: i + 1, opens: at === 0 ? segment.opening : null });
    });
  });
  return segmentOf;
}

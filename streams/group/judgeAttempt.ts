import type { CallVerdict } from '../../schemas/generated/events.ts';
import { type JudgeFacts, type Judgement, judge } from '../judge/judge.ts';
import type { CallTree } from '../tree/callTree.ts';
import { emptyTree } from '../tree/callTree.ts';
import { evolve } from '../tree/evolve.ts';
import { finishTree } from '../tree/prefixTree.ts';
import { type AttemptState, isReceived, receivedCount } from './groupState.ts';

/** The judged calls of an attempt, those that gave no sample and those that came too late included. */
export interface AttemptJudgement extends Judgement {
  /** what is missing or damaged; null when the attempt is whole */
  readonly incomplete: string | null;
}

/** A call's place in the list of verdicts. */
interface Placed {
  readonly seq: number;
  readonly verdict: CallVerdict;
}

/** Judges the calls that the seal counted, and gives every other received call its verdict too. */
export function judgeAttempt(
  attempt: AttemptState,
  facts: Omit<JudgeFacts, 'undelivered'>,
): AttemptJudgement {
  const late = lateCalls(attempt);
  const tree = late.size === 0 ? attempt.tree : withoutCalls(attempt.tree, late);
  const finished = finishTree(tree);
  const undelivered = new Set(attempt.sealed?.undelivered ?? []);
  const judgement = judge(finished, { ...facts, undelivered });

  const dropped = (callId: string, reason: string): CallVerdict => ({
    callId,
    kind: 'main',
    verdict: 'dropped',
    reason,
  });
  const placed: Placed[] = judgement.verdicts.map((verdict) => ({
    seq: finished.byId.get(verdict.callId)?.call.seq ?? 0,
    verdict: tree.broken.has(verdict.callId) ? { ...verdict, verdict: 'dropped', reason: 'failed' } : verdict,
  }));
  for (const call of [...tree.waiting.values()].flat()) {
    placed.push({ seq: call.seq, verdict: dropped(call.callId, 'rollout') });
  }
  for (const [callId, { seq }] of attempt.failed) {
    placed.push({ seq, verdict: dropped(callId, late.has(callId) ? 'late' : 'failed') });
  }
  for (const callId of attempt.unreadable) {
    placed.push({ seq: -1, verdict: dropped(callId, late.has(callId) ? 'late' : 'failed') });
  }
  for (const call of callsOf(attempt.tree)) {
    if (late.has(call.callId)) placed.push({ seq: call.seq, verdict: dropped(call.callId, 'late') });
  }
  placed.sort((a, b) => a.seq - b.seq || (a.verdict.callId < b.verdict.callId ? -1 : 1));
  return {
    ...judgement,
    verdicts: placed.map(({ verdict }) => verdict),
    incomplete: whatIsMissing(attempt, tree, late),
  };
}

/** Verdicts when the whole rollout went: what would have stayed goes with it. */
export function allDropped(verdicts: readonly CallVerdict[]): readonly CallVerdict[] {
  return verdicts.map((v) => (v.verdict === 'dropped' ? v : { ...v, verdict: 'dropped', reason: 'rollout' }));
}

/** Received calls that the seal does not count. Without ids it counts the first ones by sequence. */
function lateCalls(attempt: AttemptState): ReadonlySet<string> {
  const { sealed, tree, failed, unreadable } = attempt;
  if (sealed === null) return new Set();
  const received = [
    ...[...unreadable].map((callId) => ({ callId, seq: -1 })),
    ...callsOf(tree),
    ...failed.values(),
  ].sort((a, b) => a.seq - b.seq || (a.callId < b.callId ? -1 : 1));
  const counted = new Set(sealed.callIds ?? received.slice(0, sealed.callCount).map(({ callId }) => callId));
  return new Set(received.map(({ callId }) => callId).filter((callId) => !counted.has(callId)));
}

function whatIsMissing(attempt: AttemptState, tree: CallTree, late: ReadonlySet<string>): string | null {
  const { sealed, unreadable } = attempt;
  if (sealed === null) return 'it was never sealed';
  const missing = sealed.callIds?.filter((callId) => !isReceived(attempt, callId)) ?? [];
  if (missing.length > 0) return `calls ${missing.toSorted().join(', ')} are missing`;
  const count = receivedCount(attempt) - late.size;
  if (count < sealed.callCount) return `${count} of ${sealed.callCount} calls are there`;
  const damaged = [...unreadable].filter((callId) => !late.has(callId));
  if (damaged.length > 0) return `calls ${damaged.sort().join(', ')} could not be read`;
  if (tree.broken.size > 0) return `calls ${[...tree.broken].sort().join(', ')} extend another history`;
  if (tree.waitingIds.size > 0)
    return `calls ${[...tree.waitingIds].sort().join(', ')} extend a call that is not there`;
  return null;
}

function withoutCalls(tree: CallTree, left: ReadonlySet<string>): CallTree {
  return callsOf(tree)
    .filter((call) => !left.has(call.callId))
    .reduce(evolve, emptyTree());
}

const callsOf = (tree: CallTree) => [
  ...[...tree.nodes.values()].map((node) => node.call),
  ...[...tree.waiting.values()].flat(),
];

import type { EspalierEvent, TrainingSample } from '../../../schemas/generated/events.ts';
import { linearize } from '../../../streams/batch/linearize.ts';
import { pruneTree } from '../../../streams/group/pruneTree.ts';
import { type JudgeFacts, type Judgement, judge } from '../../../streams/judge/judge.ts';
import { emptyTree } from '../../../streams/tree/callTree.ts';
import { evolve } from '../../../streams/tree/evolve.ts';
import { finishTree } from '../../../streams/tree/prefixTree.ts';
import { inBrackets } from './words.ts';

/** Judges the calls of one scripted attempt. */
export function judged(events: readonly EspalierEvent[], facts: Partial<JudgeFacts> = {}): Judgement {
  const calls = events.filter((event) => event.type === 'ModelCalled');
  return judge(finishTree(calls.reduce(evolve, emptyTree())), {
    instruction: null,
    undelivered: new Set(),
    versions: 'ignored',
    maxLeaves: 16,
    ...facts,
  });
}

/** One line for each call: `a1 main trained`, `a2 main dropped superseded`. */
export function verdictLines({ verdicts }: Pick<Judgement, 'verdicts'>): readonly string[] {
  return verdicts.map(({ callId, kind, verdict, reason }) =>
    [callId, kind, verdict, reason ?? ''].join(' ').trim(),
  );
}

/** One line for each kept trajectory, trained tokens in brackets. */
export function keptLines(judgement: Judgement): readonly string[] {
  const pruned = pruneTree(judgement.kept);
  return rowLines({ ...pruned, rolloutId: 'r', reward: 0, advantage: 1 } as unknown as TrainingSample);
}

/** One line for each row of a sample, trained tokens in brackets. */
export function rowLines(sample: TrainingSample): readonly string[] {
  const totals = { lossAggregation: 'rolloutMean', lossConstant: null, samples: 1, tokens: sample.tokens };
  return linearize(sample, totals).map(({ tokenIds, lossMask }) => inBrackets(tokenIds, lossMask));
}

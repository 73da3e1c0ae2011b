import fc from 'fast-check';
import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type {
  EspalierEvent,
  RolloutScored,
  TrainingSample,
  TreeJudged,
} from '../../schemas/generated/events.ts';
import { defaultRunConfig } from '../../schemas/runConfig.ts';
import { linearize } from '../../streams/batch/linearize.ts';
import { closeGroup } from '../../streams/group/closeGroup.ts';
import type { GroupEvent, GroupOutput, GroupState } from '../../streams/group/groupState.ts';
import { through } from '../../streams/stage.ts';
import { emptyTree } from '../../streams/tree/callTree.ts';
import { evolve } from '../../streams/tree/evolve.ts';
import { pathTokens } from '../../streams/tree/pathTokens.ts';
import { ids } from '../support/tree/events.ts';
import { type Action, actions, simulate } from '../support/tree/simulator.ts';

const config = { ...defaultRunConfig(), maxLeaves: 1000 };
const runs = { numRuns: Number(process.env.ESPALIER_PROPERTY_RUNS ?? 300) };
const stage = closeGroup(() => config);

/** Feeds events batch by batch, as the runner does, and returns outputs and open groups. */
async function firstHop(events: readonly EspalierEvent[], batchSize = 1000) {
  const states = new Map<string, GroupState>();
  const out: GroupOutput[] = [];
  for (let i = 0; i < events.length; i += batchSize) {
    const batch = events.slice(i, i + batchSize) as GroupEvent[];
    out.push(
      ...(await lastValueFrom(from(batch).pipe(through(stage, states), toArray()), { defaultValue: [] })),
    );
  }
  return { out, open: states.size };
}

/** Rollout 2 makes sure that the group has a reward to compare with. */
const simulated = (first: readonly Action[], second: readonly Action[]) => [
  simulate(ids('r1'), first),
  simulate(ids('r2'), second),
];
const judgedOf = (out: readonly GroupOutput[]) => out.filter((e): e is TreeJudged => e.type === 'TreeJudged');
const scoredOf = (out: readonly GroupOutput[]) =>
  out.filter((e): e is RolloutScored => e.type === 'RolloutScored');

describe('a simulated harness that knows what has to be trained', {
  timeout: 20_000 + runs.numRuns * 100,
}, () => {
  it('agrees on every verdict, one for each call (invariant 5)', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (does) => {
        const rollout = simulate(ids('r1'), does);
        const { out, open } = await firstHop(rollout.events(1, 1));
        const verdicts = judgedOf(out).flatMap((e) => e.verdicts);
        expect(verdicts.length).toBe(rollout.truth.size);
        const keeps = [...rollout.truth.values()].some((verdict) => verdict === 'main trained');
        const wanted = new Map(
          [...rollout.truth].map(([id, verdict]) => [
            id,
            keeps ? verdict : verdict.replace(/context .*/, 'dropped rollout'),
          ]),
        );
        expect(
          new Map(verdicts.map((v) => [v.callId, [v.kind, v.verdict, v.reason ?? ''].join(' ').trim()])),
        ).toEqual(wanted);
        expect(open).toBe(0);
      }),
      runs,
    );
  });

  it('trains every sampled token of a trained call once, in the context the engine saw (invariants 1, 2)', async () => {
    await fc.assert(
      fc.asyncProperty(actions, actions, async (first, second) => {
        const rollouts = simulated(first, second);
        const { out } = await firstHop(rollouts.flatMap((rollout, i) => rollout.events(i, 2)));
        for (const scored of scoredOf(out)) {
          const rollout = rollouts.find(({ calls }) => calls[0]?.rolloutId === scored.rolloutId)!;
          const tree = rollout.calls.reduce(evolve, emptyTree());
          const sample: TrainingSample = { ...scored, type: 'TrainingSample', batchId: 'b' };
          const totals = {
            lossAggregation: 'rolloutMean',
            lossConstant: null,
            samples: 1,
            tokens: scored.tokens,
          };
          const trained: number[] = [];
          linearize(sample, totals).forEach((row, i) => {
            const leaf = scored.nodes[scored.keptLeaves[i]!]!.callId;
            expect(row.tokenIds).toEqual(pathTokens(tree.nodes.get(leaf)!));
            trained.push(...row.tokenIds.filter((_, at) => row.lossMask[at] === 1));
          });
          const wanted = rollout.calls
            .filter(({ callId }) => rollout.truth.get(callId) === 'main trained')
            .flatMap(({ sampledTokenIds }) => [...sampledTokenIds]);
          expect(trained.sort((a, b) => a - b)).toEqual(wanted.sort((a, b) => a - b));
        }
      }),
      runs,
    );
  });

  it('gives the same in any arrival order, with repeats and in any split into batches (invariant 4)', async () => {
    await fc.assert(
      fc.asyncProperty(
        actions,
        actions,
        fc.integer(),
        fc.integer({ min: 1, max: 9 }),
        async (first, second, seed, size) => {
          const events = simulated(first, second).flatMap((rollout, i) => rollout.events(i, 2));
          const wanted = (await firstHop(events)).out;
          const shuffled = shuffleBySeed([...events, ...events.filter((_, i) => (seed + i) % 3 === 0)], seed);
          // A repeat may come after its group closed; the runner knows the marker and does not feed it.
          const { out } = await firstHop(shuffled, size);
          expect(out.slice(0, wanted.length)).toEqual(wanted);
        },
      ),
      runs,
    );
  });

  it('gives advantages that sum to zero (invariant 7)', async () => {
    await fc.assert(
      fc.asyncProperty(
        actions,
        actions,
        fc.double({ min: 0.1, max: 1, noNaN: true }),
        async (first, second, reward) => {
          const rollouts = simulated(first, second);
          const { out } = await firstHop(rollouts.flatMap((rollout, i) => rollout.events(i * reward, 2)));
          const sum = scoredOf(out).reduce((total, { advantage }) => total + (advantage ?? 0), 0);
          expect(Math.abs(sum)).toBeLessThan(1e-9);
        },
      ),
      { numRuns: 50 },
    );
  });
});

function shuffleBySeed<T>(items: readonly T[], seed: number): readonly T[] {
  return items
    .map((item, i) => ({ item, key: Math.imul(seed ^ (i * 0x9e3779b1), 0x85ebca6b) }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

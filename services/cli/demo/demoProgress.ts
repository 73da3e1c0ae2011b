import type { EspalierEvent } from '../../../schemas/generated/events.ts';
import type { CurvePoint } from './drawCurve.ts';

/** Rewards of a run as they come in, by the step their rollouts were asked for. */
export interface Rewards {
  fold(event: EspalierEvent): void;
  /** Share of passed training rollouts at each step. */
  training(): readonly CurvePoint[];
  /** Passed share of the held-out rollouts of a step; rollouts without a reward count as failed. */
  passAt1(step: number): number;
}

interface Tally {
  asked: Set<string>;
  passed: Set<string>;
}

/** A rollout passes when its reward is 1: the whole task, not a part of its criteria. */
export function collectRewards(): Rewards {
  const train = new Map<number, Tally>();
  const heldOut = new Map<number, Tally>();
  const tallyOf = new Map<string, Tally>();
  const waiting = new Set<string>();
  return {
    fold(event) {
      if (event.type === 'RolloutRequested' && event.step !== null) {
        const series = event.purpose === 'eval' ? heldOut : train;
        const tally = series.get(event.step) ?? { asked: new Set(), passed: new Set() };
        series.set(event.step, tally);
        tally.asked.add(event.rolloutId);
        tallyOf.set(event.rolloutId, tally);
        if (waiting.delete(event.rolloutId)) tally.passed.add(event.rolloutId);
      }
      if (event.type === 'RewardGiven' && event.reward >= 1 - 1e-9) {
        const tally = tallyOf.get(event.rolloutId);
        if (tally === undefined) waiting.add(event.rolloutId);
        else tally.passed.add(event.rolloutId);
      }
    },
    training: () =>
      [...train.entries()]
        .sort(([a], [b]) => a - b)
        .map(([step, t]) => ({ step, value: t.passed.size / t.asked.size })),
    passAt1(step) {
      const tally = heldOut.get(step);
      return tally === undefined || tally.asked.size === 0 ? 0 : tally.passed.size / tally.asked.size;
    },
  };
}

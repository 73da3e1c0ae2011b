// Training in one process: groups of rollouts in the simulated demo world, advantages, training steps.
import { Distribution } from '../../infra/engine/tiny/distribution.ts';
import { rngFromSeed, shuffled } from '../../infra/engine/tiny/rng.ts';
import { samplerScratch } from '../../infra/engine/tiny/sampleReply.ts';
import { TinyChat } from '../../infra/engine/tiny/tinyChat.ts';
import { loadVocabulary } from '../../infra/engine/tiny/vocabulary.ts';
import { cloneWeights, type Weights } from '../../infra/engine/tiny/weights.ts';
import type { TrainableSample } from '../../services/trainer/trainedTokens.ts';
import { trainStep } from '../../services/trainer/trainStep.ts';
import { type DemoPolicy, demoRollout, demoTask, groupAdvantages, passAt1 } from './demoWorld.ts';

export interface DemoRun {
  readonly start: Weights;
  readonly seed: number;
  readonly steps: number;
  readonly algorithm: 'grpo' | 'ppo';
  /** Age, in versions, of the weights the rollouts are sampled with. */
  readonly lag: number;
  /** The control: rewards are dealt out at random among the rollouts of a batch. */
  readonly shuffleRewards: boolean;
}

export interface DemoResult {
  readonly before: number;
  readonly after: number;
  /** Mean reward of each step's rollouts. */
  readonly rewards: number[];
  readonly metrics: Array<Record<string, number>>;
}

const GROUPS = 4;
const GROUP_SIZE = 8;
const HELD_OUT = 64;

/** Runs it; the same arguments give the same result. Training rollouts: 32 a step. */
export function demoRun(run: DemoRun): DemoResult {
  const vocabulary = loadVocabulary();
  const chat = new TinyChat();
  const sampler = samplerScratch(vocabulary);
  const scratch = {
    anchor: run.start,
    distribution: new Distribution(vocabulary.size),
    anchorDistribution: new Distribution(vocabulary.size),
  };
  const policy = (weights: Weights): DemoPolicy => ({
    vocabulary,
    chat,
    weights,
    version: '0',
    scratch: sampler,
  });
  const heldOut = Array.from({ length: HELD_OUT }, (_, i) => demoTask(rngFromSeed(900_000 + i)));
  const evaluate = (weights: Weights) => passAt1(policy(weights), heldOut, rngFromSeed(77));
  const rng = rngFromSeed(1000 + run.seed);
  const versions = [run.start];
  const rewards: number[] = [];
  const metrics: Array<Record<string, number>> = [];
  for (let step = 0; step < run.steps; step++) {
    const behaviour = policy(versions[Math.max(0, versions.length - 1 - run.lag)] as Weights);
    const groups = Array.from({ length: GROUPS }, () => {
      const task = demoTask(rng);
      return Array.from({ length: GROUP_SIZE }, () => demoRollout(behaviour, task, rng));
    });
    const given = groups.flat().map(({ reward }) => reward);
    const dealt = run.shuffleRewards ? shuffled(rng, given) : given;
    rewards.push(given.reduce((sum, r) => sum + r, 0) / given.length);
    const samples = groups.flatMap((group, g): TrainableSample[] => {
      const own = dealt.slice(g * GROUP_SIZE, (g + 1) * GROUP_SIZE);
      const advantages = run.algorithm === 'grpo' ? groupAdvantages(own) : own.map(() => null);
      if (advantages === null) return [];
      return group.map((rollout, i) => ({
        ...rollout,
        reward: own[i] as number,
        advantage: advantages[i] as number | null,
      }));
    });
    const weights = cloneWeights(versions.at(-1) as Weights);
    if (samples.length > 0) {
      const step = { vocabulary, weights, scratch, samples, batchNumber: versions.length - 1 };
      metrics.push(
        trainStep({ ...step, aggregation: { kind: 'rolloutMean' }, learningRate: 100, importanceCap: 2 }),
      );
    }
    versions.push(weights);
  }
  return { before: evaluate(run.start), after: evaluate(versions.at(-1) as Weights), rewards, metrics };
}

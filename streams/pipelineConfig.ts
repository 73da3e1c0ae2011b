import type { RunConfig } from '../schemas/runConfig.ts';

/** The part of a run's configuration that decides what is trained. A RunConfig is one. */
export type PipelineConfig = Pick<
  RunConfig,
  | 'algorithm'
  | 'estimator'
  | 'seed'
  | 'maxLeaves'
  | 'minGroupSize'
  | 'advantageEpsilon'
  | 'zeroVarianceEpsilon'
  | 'groupsPerBatch'
  | 'maxOffPolicySteps'
  | 'maxQueuedBatches'
  | 'lossAggregation'
  | 'lossConstant'
  | 'maxRecordBytes'
>;

/** Finds the configuration of a run: pure, the same answer for the same run. */
export type ConfigOf = (runId: string) => PipelineConfig;

/**
 * Which policy versions a call may name. `ignored`: the policy does not change, versions do not matter.
 * `named`: the run publishes policies, so every sampled token must be covered by a span. A set: the
 * versions known to have been published; a call that names none of them is not trained.
 */
export type PolicyVersions = 'ignored' | 'named' | ReadonlySet<string>;

/**
 * The rule of the running pipeline, and so of every replay of it: the first hop does not see which
 * versions are published, but each sampled token must name one.
 */
export const LIVE_VERSIONS: PolicyVersions = 'named';

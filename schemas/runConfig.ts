/** Everything a run can be told. One flat object: the same keys in files, flags and environment. */
export interface RunConfig {
  readonly algorithm: 'grpo' | 'ppo';
  readonly estimator: 'grpo' | 'drgrpo' | 'rloo';
  readonly tasks: readonly string[];
  readonly heldOutTasks: readonly string[];
  readonly harnesses: readonly string[];
  readonly modelDir: string | null;
  readonly engines: readonly string[];
  readonly sandbox: 'auto' | 'bubblewrap' | 'process';
  readonly steps: number;
  readonly seed: number;
  readonly groupSize: number;
  readonly groupsPerBatch: number;
  readonly maxOffPolicySteps: number;
  readonly maxQueuedBatches: number;
  readonly minGroupSize: number;
  readonly maxLeaves: number;
  readonly advantageEpsilon: number;
  readonly zeroVarianceEpsilon: number;
  readonly lossAggregation: 'rolloutMean' | 'tokenMean' | 'constant';
  readonly lossConstant: number | null;
  readonly tisClip: number;
  readonly learningRate: number;
  readonly historyPolicy: 'keep';
  readonly temperature: number;
  readonly maxTokens: number;
  readonly maxContext: number;
  readonly maxTurns: number;
  readonly contextLimit: number;
  readonly concurrency: number;
  readonly wallSeconds: number;
  readonly maxAttempts: number;
  readonly evaluationTasks: number;
  readonly evaluationEverySteps: number;
  readonly maxRecordBytes: number;
  readonly graderFailureReward: number;
}

interface Setting<T> {
  readonly value: T;
  /** JSON schema of the value. */
  readonly schema: object;
  /** What it does and why this is the default. */
  readonly why: string;
}

const positive = { type: 'integer', minimum: 1 };
const natural = { type: 'integer', minimum: 0 };
const strings = { type: 'array', items: { type: 'string' } };

/** The one table of defaults, each with its schema and its reason. */
export const SETTINGS: { readonly [K in keyof RunConfig]: Setting<RunConfig[K]> } = {
  algorithm: { value: 'grpo', schema: { enum: ['grpo', 'ppo'] }, why: 'GRPO needs no critic' },
  estimator: {
    value: 'grpo',
    schema: { enum: ['grpo', 'drgrpo', 'rloo'] },
    why: 'advantage of a group; not used by ppo',
  },
  tasks: { value: [], schema: strings, why: 'task folders; the demo makes its own' },
  heldOutTasks: { value: [], schema: strings, why: 'task folders for evaluation only; none: no evaluation' },
  harnesses: {
    value: ['alder', 'birch'],
    schema: { ...strings, minItems: 1 },
    why: 'both demo harnesses, so that groups of two harnesses meet in a batch',
  },
  modelDir: {
    value: null,
    schema: { type: ['string', 'null'] },
    why: 'folder with tokenizer and chat template; null: the tiny model',
  },
  engines: {
    value: [],
    schema: strings,
    why: 'URLs that answer /generate; none: the tiny policy is started',
  },
  sandbox: {
    value: 'auto',
    schema: { enum: ['auto', 'bubblewrap', 'process'] },
    why: 'bubblewrap where its probe passes; a plain process only for the demo harnesses, unless asked for by name',
  },
  steps: {
    value: 28,
    schema: positive,
    why: 'training batches; enough for the demo to learn within minutes on two cores',
  },
  seed: { value: 0, schema: natural, why: 'tasks, shuffles and the warm start follow from it' },
  groupSize: {
    value: 8,
    schema: positive,
    why: 'rollouts of one task and harness; fewer make the group mean noisy',
  },
  groupsPerBatch: { value: 4, schema: positive, why: 'groups of a training batch' },
  maxOffPolicySteps: {
    value: 1,
    schema: natural,
    why: 'rollouts run one step ahead of the trainer, so neither waits',
  },
  maxQueuedBatches: { value: 1, schema: positive, why: 'batches cut ahead of the trainer' },
  minGroupSize: { value: 2, schema: positive, why: 'one rollout has no group to be compared with' },
  maxLeaves: {
    value: 16,
    schema: positive,
    why: 'main leaves above which a rollout is dropped as over-branching',
  },
  advantageEpsilon: {
    value: 1e-6,
    schema: { type: 'number', exclusiveMinimum: 0 },
    why: 'keeps the division by std finite',
  },
  zeroVarianceEpsilon: {
    value: 1e-6,
    schema: { type: 'number', minimum: 0 },
    why: 'a group whose rewards differ by less teaches nothing',
  },
  lossAggregation: {
    value: 'rolloutMean',
    schema: { enum: ['rolloutMean', 'tokenMean', 'constant'] },
    why: 'long rollouts do not outweigh short ones',
  },
  lossConstant: {
    value: null,
    schema: { type: ['number', 'null'], exclusiveMinimum: 0 },
    why: 'L of the constant aggregation',
  },
  tisClip: {
    value: 2,
    schema: { type: 'number', exclusiveMinimum: 0 },
    why: 'upper bound of the truncated importance weight',
  },
  learningRate: {
    value: 100,
    schema: { type: 'number', exclusiveMinimum: 0 },
    why: 'of the built-in trainer, plain gradient descent on a mean over rollouts; tuned on the demo',
  },
  historyPolicy: {
    value: 'keep',
    schema: { enum: ['keep'] },
    why: 'what was rendered stays, so each prompt extends the last',
  },
  temperature: {
    value: 1,
    schema: { type: 'number', exclusiveMinimum: 0 },
    why: 'log-probabilities are those of the distribution that was sampled',
  },
  maxTokens: { value: 96, schema: positive, why: 'sampled tokens of one call at most' },
  maxContext: { value: 32768, schema: positive, why: 'prompt and reply tokens of one call at most' },
  maxTurns: {
    value: 8,
    schema: positive,
    why: 'model calls of a demo harness at most; fewer leave more groups without a success',
  },
  contextLimit: { value: 1500, schema: positive, why: 'input tokens at which a demo harness compacts' },
  concurrency: { value: 4, schema: positive, why: 'rollouts in flight; two cores are busy with four' },
  wallSeconds: {
    value: 60,
    schema: positive,
    why: 'wall clock of one harness run; then its workspace is verified',
  },
  maxAttempts: {
    value: 3,
    schema: positive,
    why: 'tries of a rollout that failed for infrastructure reasons',
  },
  evaluationTasks: {
    value: 48,
    schema: natural,
    why: 'held-out rollouts before and after; a standard error of at most 0.07',
  },
  evaluationEverySteps: {
    value: 0,
    schema: natural,
    why: 'held-out Pass@1 while training; 0: only before and after',
  },
  maxRecordBytes: { value: 16_000_000, schema: positive, why: 'largest record of the log' },
  graderFailureReward: {
    value: 0,
    schema: { type: 'number' },
    why: 'reward when the agent broke a grader that handles the untouched workspace',
  },
};

/** Default run configuration. */
export function defaultRunConfig(): RunConfig {
  return Object.fromEntries(
    Object.entries(SETTINGS).map(([key, s]) => [key, s.value]),
  ) as unknown as RunConfig;
}

/** JSON schema of a run configuration; every key optional, none unknown. */
export function runConfigSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'RunConfig',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(SETTINGS).map(([key, s]) => [
        key,
        { ...s.schema, description: s.why, default: s.value },
      ]),
    ),
  };
}

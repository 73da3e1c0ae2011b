import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EspalierEvent, RolloutRequested } from '../../../schemas/generated/events.ts';
import { defaultRunConfig, type RunConfig } from '../../../schemas/runConfig.ts';
import { decide, type RunPlan } from '../../../services/dispatcher/decide.ts';
import { emptyRunState, foldRun, type RunState } from '../../../services/dispatcher/runState.ts';

const archive = { uri: 'blob:x', sha256: '0' };
const task = (taskId: string) => ({ taskId, instruction: `do ${taskId}`, archive });

function planOf(overrides: Partial<RunConfig>): RunPlan {
  return {
    runId: 'run',
    config: {
      ...defaultRunConfig(),
      evaluationTasks: 2,
      groupSize: 2,
      groupsPerBatch: 2,
      steps: 2,
      ...overrides,
    },
    tasks: { train: [task('a'), task('b'), task('c')], heldOut: [task('x'), task('y')] },
  };
}

function fold(state: RunState, ...events: readonly EspalierEvent[]): void {
  for (const event of events) foldRun(state, event);
}

/** Decides once and takes what was said into the state. */
function turn(plan: RunPlan, state: RunState): readonly EspalierEvent[] {
  const events = decide(plan, state, 1).flat();
  fold(state, ...events);
  return events;
}

const requests = (events: readonly EspalierEvent[]) => events.filter((e) => e.type === 'RolloutRequested');
const started: readonly EspalierEvent[] = [
  { type: 'RunConfigured', runId: 'run', config: '{}', digest: '', at: 0 },
  {
    type: 'PolicyPublished',
    runId: 'run',
    version: '0',
    trainedThroughBatch: -1,
    weights: null,
    metrics: {},
    at: 0,
  },
];

const ended = (r: RolloutRequested, outcome: string): EspalierEvent => ({
  type: 'RolloutEnded',
  runId: 'run',
  groupId: r.groupId,
  rolloutId: r.rolloutId,
  attempt: r.attempt,
  outcome,
  exitCode: 0,
  detail: null,
  workspace: null,
  wallMs: 1,
  at: 0,
});
const rewarded = (r: RolloutRequested, reward = 1): EspalierEvent => ({
  type: 'RewardGiven',
  runId: 'run',
  groupId: r.groupId,
  rolloutId: r.rolloutId,
  attempt: r.attempt,
  reward,
  criteria: {},
  flag: null,
  at: 0,
});
const cut = (batchNumber: number, groups: readonly string[]): EspalierEvent => ({
  type: 'TrainingBatchCut',
  batchId: `b${batchNumber}`,
  runId: 'run',
  batchNumber,
  groups,
  samples: 1,
  tokens: { total: 1, trained: 1 },
  harnesses: {},
  staleGroups: [],
  policyStep: 0,
  trainedThroughBatch: 0,
  inputOffset: 0,
  policyVersions: [],
  pendingGroups: [],
  lossAggregation: 'rolloutMean',
  lossConstant: null,
  algorithm: 'grpo',
});
const published = (batch: number): EspalierEvent => ({
  type: 'PolicyPublished',
  runId: 'run',
  version: `${batch + 1}`,
  trainedThroughBatch: batch,
  weights: null,
  metrics: {},
  at: 0,
});

function finishAll(plan: RunPlan, state: RunState, asked: readonly EspalierEvent[]): void {
  for (const request of requests(asked)) fold(state, ended(request, 'completed'), rewarded(request));
  turn(plan, state);
}

describe('the course of a run', () => {
  test('nothing is asked for before the run is configured and a policy is there', () => {
    const state = emptyRunState();
    expect(decide(planOf({}), state, 1)).toEqual([]);
    fold(state, started[0]!);
    expect(decide(planOf({}), state, 1)).toEqual([]);
  });

  test('evaluation, then training within the window, then evaluation, then the end', () => {
    const plan = planOf({});
    const state = emptyRunState();
    fold(state, ...started);
    const before = turn(plan, state);
    expect(requests(before).map((r) => [r.purpose, r.step, r.harness])).toEqual([
      ['eval', 0, 'alder'],
      ['eval', 0, 'birch'],
    ]);
    expect(turn(plan, state)).toEqual([]);
    for (const request of requests(before)) fold(state, ended(request, 'completed'), rewarded(request));
    const first = decide(plan, state, 1).flat();
    expect(first.map((e) => e.type)).toEqual(['RolloutSettled', 'RolloutSettled']);
    fold(state, ...first);

    const training = requests(turn(plan, state));
    expect(new Set(training.map((r) => r.groupId)).size).toBe(4);
    expect(training).toHaveLength(8);
    finishAll(plan, state, training);
    const groups = [...state.trainingGroups];
    fold(state, cut(0, groups.slice(0, 2)), published(0));
    // Four groups are all that two steps of two groups need.
    expect(turn(plan, state)).toEqual([]);
    fold(state, cut(1, groups.slice(2)), published(1));
    const after = turn(plan, state);
    expect(requests(after).map((r) => [r.purpose, r.step])).toEqual([
      ['eval', 2],
      ['eval', 2],
    ]);
    finishAll(plan, state, after);
    expect(turn(plan, state).map((e) => e.type)).toEqual(['RunEnded']);
    expect(turn(plan, state)).toEqual([]);
    expect([...state.evaluations.keys()]).toEqual([0, 2]);
  });

  test('a dropped group is asked for again, an evaluation that ends as one is not', () => {
    const plan = planOf({ evaluationTasks: 0 });
    const state = emptyRunState();
    fold(state, ...started);
    expect(requests(turn(plan, state))).toHaveLength(8);
    const [first] = state.trainingGroups;
    fold(state, {
      type: 'GroupDropped',
      runId: 'run',
      groupId: first!,
      reason: 'zeroVariance',
      detail: null,
    });
    expect(requests(turn(plan, state))).toHaveLength(2);
    fold(state, {
      type: 'GroupDropped',
      runId: 'run',
      groupId: 'elsewhere',
      reason: 'evaluation',
      detail: null,
    });
    expect(turn(plan, state)).toEqual([]);
  });
});

describe('settling', () => {
  const one = (): { plan: RunPlan; state: RunState; request: RolloutRequested } => {
    const plan = planOf({ evaluationTasks: 0, groupSize: 1, groupsPerBatch: 1, steps: 1, maxAttempts: 2 });
    const state = emptyRunState();
    fold(state, ...started);
    return { plan, state, request: requests(turn(plan, state))[0]! };
  };

  test('an infrastructure failure is retried and then abandoned, never rewarded', () => {
    const { plan, state, request } = one();
    fold(state, ended(request, 'infrastructureFailure'));
    const retry = requests(turn(plan, state));
    expect(retry.map((r) => [r.rolloutId, r.attempt])).toEqual([[request.rolloutId, 1]]);
    fold(state, ended(retry[0]!, 'infrastructureFailure'));
    expect(turn(plan, state)).toMatchObject([
      { type: 'RolloutAbandoned' },
      { type: 'RolloutSettled', scoredAttempt: null },
    ]);
  });

  test('an agent that ran out of time is scored by what it left', () => {
    const { plan, state, request } = one();
    fold(state, ended(request, 'agentTimeout'), rewarded(request, 0));
    expect(turn(plan, state)).toMatchObject([
      { type: 'RolloutSettled', scoredAttempt: 0, outcome: 'agentTimeout' },
    ]);
  });

  test('a reward that arrives before the end of its attempt waits for it', () => {
    const { plan, state, request } = one();
    fold(state, rewarded(request));
    expect(turn(plan, state)).toEqual([]);
    fold(state, ended(request, 'completed'));
    expect(turn(plan, state)).toMatchObject([{ type: 'RolloutSettled', scoredAttempt: 0 }]);
  });

  test('every rollout is settled exactly once, whatever happens and however often it is told', () => {
    const outcome = fc.constantFrom('completed', 'harnessError', 'agentTimeout', 'infrastructureFailure');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(outcome, fc.boolean(), fc.boolean()), { minLength: 2, maxLength: 2 }),
        (fates) => {
          const { plan, state, request } = one();
          let current: RolloutRequested | undefined = request;
          let settled = 0;
          for (const [how, verified, twice] of fates) {
            if (current === undefined) break;
            const facts = [
              ended(current, how),
              ...(how === 'infrastructureFailure'
                ? []
                : [verified ? rewarded(current) : failedVerification(current)]),
            ];
            fold(state, ...facts, ...(twice ? facts : []));
            const said = turn(plan, state);
            settled += said.filter((e) => e.type === 'RolloutSettled').length;
            current = requests(said)[0];
          }
          expect(settled).toBe(1);
        },
      ),
    );
  });
});

function failedVerification(r: RolloutRequested): EspalierEvent {
  return {
    type: 'VerificationFailed',
    runId: 'run',
    groupId: r.groupId,
    rolloutId: r.rolloutId,
    attempt: r.attempt,
    reason: 'crash',
    at: 0,
  };
}

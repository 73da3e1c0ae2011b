import type { EspalierEvent, RolloutRequested } from '../../schemas/generated/events.ts';

/** What the dispatcher knows of one attempt. */
export interface AttemptState {
  outcome: string | undefined;
  result: 'rewarded' | 'failed' | undefined;
}

/** What the dispatcher knows of one rollout that is not settled. */
export interface RolloutState {
  readonly request: RolloutRequested;
  readonly attempts: AttemptState[];
}

/** Everything the dispatcher decides from: a fold of one run's events. */
export interface RunState {
  configured: boolean;
  ended: boolean;
  /** Rollouts that are requested and not settled. */
  readonly open: Map<string, RolloutState>;
  readonly settled: Set<string>;
  readonly requestedGroups: Set<string>;
  /** Training groups; they are asked for in sequence, so their number is the next one's. */
  readonly trainingGroups: Set<string>;
  readonly droppedTrainingGroups: Set<string>;
  /** How many groups each batch that was cut holds, by batch number. */
  readonly groupsOfBatch: Map<number, number>;
  trainedThroughBatch: number | undefined;
  /** Rewards of evaluation rollouts by step, then rollout. */
  readonly evaluations: Map<number, Map<string, number>>;
  readonly stepOfEvaluation: Map<string, number>;
}

/** The state before any event. */
export function emptyRunState(): RunState {
  return {
    configured: false,
    ended: false,
    open: new Map(),
    settled: new Set(),
    requestedGroups: new Set(),
    trainingGroups: new Set(),
    droppedTrainingGroups: new Set(),
    groupsOfBatch: new Map(),
    trainedThroughBatch: undefined,
    evaluations: new Map(),
    stepOfEvaluation: new Map(),
  };
}

/**
 * Takes one event of the run into the state, in place. Repeated events change nothing, and events
 * of different topics may come in any order as long as a rollout's request comes before its fate.
 */
export function foldRun(state: RunState, event: EspalierEvent): void {
  switch (event.type) {
    case 'RunConfigured':
      state.configured = true;
      return;
    case 'RunEnded':
      state.ended = true;
      return;
    case 'RolloutRequested':
      requested(state, event);
      return;
    case 'RolloutEnded': {
      const attempt = attemptOf(state, event.rolloutId, event.attempt);
      if (attempt !== undefined) attempt.outcome ??= event.outcome;
      return;
    }
    case 'RewardGiven': {
      const attempt = attemptOf(state, event.rolloutId, event.attempt);
      if (attempt !== undefined && attempt.result === undefined) attempt.result = 'rewarded';
      const step = state.stepOfEvaluation.get(event.rolloutId);
      const rewards = step === undefined ? undefined : state.evaluations.get(step);
      if (rewards !== undefined && !rewards.has(event.rolloutId)) rewards.set(event.rolloutId, event.reward);
      return;
    }
    case 'VerificationFailed': {
      const attempt = attemptOf(state, event.rolloutId, event.attempt);
      if (attempt !== undefined) attempt.result ??= 'failed';
      return;
    }
    case 'RolloutSettled':
      state.settled.add(event.rolloutId);
      state.open.delete(event.rolloutId);
      return;
    case 'GroupDropped':
      // An evaluation's group always ends this way and takes no place in the window.
      if (event.reason !== 'evaluation') state.droppedTrainingGroups.add(event.groupId);
      return;
    case 'TrainingBatchCut':
      state.groupsOfBatch.set(event.batchNumber, event.groups.length);
      return;
    case 'PolicyPublished':
      if (event.trainedThroughBatch !== null) {
        state.trainedThroughBatch = Math.max(state.trainedThroughBatch ?? -1, event.trainedThroughBatch);
      }
      return;
  }
}

function requested(state: RunState, event: RolloutRequested): void {
  state.requestedGroups.add(event.groupId);
  if (event.purpose === 'train') state.trainingGroups.add(event.groupId);
  if (event.purpose === 'eval' && event.step !== null) {
    state.stepOfEvaluation.set(event.rolloutId, event.step);
    if (!state.evaluations.has(event.step)) state.evaluations.set(event.step, new Map());
  }
  if (state.settled.has(event.rolloutId)) return;
  const known = state.open.get(event.rolloutId) ?? { request: event, attempts: [] };
  state.open.set(event.rolloutId, known);
  known.attempts[event.attempt] ??= { outcome: undefined, result: undefined };
}

function attemptOf(state: RunState, rolloutId: string, attempt: number): AttemptState | undefined {
  return state.open.get(rolloutId)?.attempts[attempt];
}

import type { Row } from '../../infra/warehouse/warehouse.ts';
import type { EspalierEvent, PolicySpan, TreeNode } from '../../schemas/generated/events.ts';
import type { Topic } from '../../schemas/topics.ts';

/** A row and the table it belongs to. */
export interface TableRow {
  readonly table: string;
  readonly row: Row;
}

/**
 * The rows of an event in the typed tables (`infra/clickhouse`), besides its raw record. An event that
 * stands on two topics has typed rows from the first of them only.
 */
export function rowsOf(topic: Topic, offset: bigint, event: EspalierEvent): readonly TableRow[] {
  switch (event.type) {
    case 'RunConfigured':
      return one('runs', {
        run_id: event.runId,
        config: event.config,
        digest: event.digest,
        at: time(event.at),
      });
    case 'RunEnded':
      return one('run_ends', { run_id: event.runId, reason: event.reason, at: time(event.at) });
    case 'RolloutRequested':
      return one('rollout_requests', {
        ...place(event),
        task_id: event.taskId,
        harness: event.harness,
        group_size: event.groupSize,
        place: event.index,
        purpose: event.purpose,
        step: event.step,
        pinned_version: event.pinnedVersion,
        at: time(event.at),
      });
    case 'RolloutStarted':
      return attemptEvent(event, { attempt: event.attempt, isolation: event.isolation });
    case 'RolloutSealed':
      return attemptEvent(event, { attempt: event.attempt, call_count: event.callCount });
    case 'RolloutEnded':
      return attemptEvent(event, {
        attempt: event.attempt,
        outcome: event.outcome,
        detail: event.detail,
        exit_code: event.exitCode,
        wall_ms: event.wallMs === null ? null : number(event.wallMs),
      });
    case 'RolloutAbandoned':
      return attemptEvent(event, { outcome: event.reason });
    case 'VerificationFailed':
      return attemptEvent(event, { attempt: event.attempt, outcome: event.reason });
    case 'ModelCalled':
      return one('model_calls', {
        ...place(event),
        attempt: event.attempt,
        seq: event.seq,
        call_id: event.callId,
        task_id: event.taskId,
        harness: event.harness,
        dialect: event.dialect,
        parent_call_id: event.parentCallId,
        prefix_token_count: event.prefixTokenCount,
        env_token_ids_b64: base64(event.envTokenIds),
        sampled_token_ids_b64: base64(event.sampledTokenIds),
        rollout_logprobs_b64: base64(event.rolloutLogprobs),
        policy_versions: versionsOf(event.policySpans),
        finish_reason: event.finishReason,
        temperature: number(event.temperature),
        logprobs_mode: event.logprobsMode,
        constrained_by: event.constraint,
        thread_key: event.threadKey,
        agent_id: event.agentId,
        template_divergence: event.templateDivergence,
        response: event.response === null ? '' : JSON.stringify(event.response),
        requested_at: time(event.requestedAt),
        completed_at: time(event.completedAt),
        engine_ms: number(event.engineMs),
      });
    case 'ModelCallFailed':
      return one('failed_calls', {
        ...place(event),
        attempt: event.attempt,
        seq: event.seq,
        call_id: event.callId,
        reason: event.reason,
        detail: event.detail,
        at: time(event.at),
      });
    case 'RewardGiven':
      return one('rewards', {
        ...place(event),
        attempt: event.attempt,
        reward: number(event.reward),
        criteria: numbers(event.criteria),
        flag: event.flag,
        at: time(event.at),
      });
    case 'RolloutSettled':
      return one('settlements', {
        ...place(event),
        scored_attempt: event.scoredAttempt,
        outcome: event.outcome,
        attempts: event.attempts.length,
        at: time(event.at),
      });
    case 'TreeJudged': {
      const { attempt, segments, leaves, verdicts, diagnostic } = event;
      const tree = { ...place(event), attempt, segments, leaves, calls: verdicts.length, diagnostic };
      const calls = verdicts.map(({ callId, kind, verdict, reason }) => ({
        table: 'verdicts',
        row: { ...place(event), attempt, call_id: callId, kind, verdict, reason },
      }));
      return [...one('trees', tree), ...calls];
    }
    case 'RolloutDropped': {
      const { attempt, reason, detail } = event;
      return one('drops', { ...place(event), scope: 'rollout', attempt, reason, detail });
    }
    case 'GroupDropped': {
      if (topic !== 'verdicts') return [];
      const { runId, groupId, reason, detail } = event;
      return one('drops', {
        run_id: runId,
        group_id: groupId,
        rollout_id: '',
        scope: 'group',
        reason,
        detail,
      });
    }
    case 'GroupClosed': {
      const { runId, groupId, outcome, callIds } = event;
      return one('closed_groups', { run_id: runId, group_id: groupId, outcome, calls: callIds.length });
    }
    case 'GroupScored':
      return one('scored_groups', {
        run_id: event.runId,
        group_id: event.groupId,
        task_id: event.taskId,
        harness: event.harness,
        size: event.size,
        scored: event.rollouts.length,
        mean: number(event.mean),
        std: number(event.std),
        excluded_mean_reward: event.excludedMeanReward === null ? null : number(event.excludedMeanReward),
      });
    case 'RolloutScored':
      return one('scored_rollouts', { ...place(event), ...sample(event) });
    case 'TrainingSample':
      return one('training_samples', {
        ...place(event),
        ...sample(event),
        batch_id: event.batchId,
        policy_versions: versionsOf(trainedNodes(event.nodes).flatMap((node) => node.policySpans)),
        call_ids: event.nodes.map((node) => node.callId),
      });
    case 'TrainingBatchCut':
      return one('training_batches', {
        run_id: event.runId,
        batch_number: event.batchNumber,
        batch_id: event.batchId,
        groups: event.groups,
        samples: event.samples,
        total_tokens: event.tokens.total,
        trained_tokens: event.tokens.trained,
        harnesses: numbers(event.harnesses),
        stale_groups: event.staleGroups,
        policy_step: event.policyStep,
        trained_through_batch: event.trainedThroughBatch,
        loss_aggregation: event.lossAggregation,
        algorithm: event.algorithm,
      });
    case 'PolicyPublished':
      return one('policies', {
        run_id: event.runId,
        position: String(offset),
        version: event.version,
        trained_through_batch: event.trainedThroughBatch,
        metrics: numbers(event.metrics),
        at: time(event.at),
      });
    case 'DeadLettered': {
      const { topic: from, partition, offset: at, code, message, key } = event;
      return one('dead_letters', {
        topic: from,
        partition,
        offset: at,
        code,
        message,
        key,
        at: time(event.at),
      });
    }
    default:
      return event satisfies never;
  }
}

/** Year 2286: the last time of thirteen digits. */
const LAST_MS = 9_999_999_999_999;

const one = (table: string, row: Row): readonly TableRow[] => [{ table, row }];

interface Placed {
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
}

const place = ({ runId, groupId, rolloutId }: Placed) => ({
  run_id: runId,
  group_id: groupId,
  rollout_id: rolloutId,
});

function attemptEvent(event: Placed & { readonly type: string; readonly at: number }, row: Row) {
  return one('attempt_events', { ...place(event), event: event.type, at: time(event.at), ...row });
}

function sample(event: EspalierEvent & { readonly type: 'RolloutScored' | 'TrainingSample' }): Row {
  return {
    attempt: event.attempt,
    reward: number(event.reward),
    advantage: event.advantage === null ? null : number(event.advantage),
    leaves: event.keptLeaves.length,
    total_tokens: event.tokens.total,
    trained_tokens: event.tokens.trained,
  };
}

const trainedNodes = (nodes: readonly TreeNode[]) =>
  nodes.filter((node) => node.sampledFrom < node.tokenIds.length);

const versionsOf = (spans: readonly PolicySpan[]) => [...new Set(spans.map((span) => span.version))];

const base64 = (array: Int32Array | Float32Array) =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

/** Milliseconds within the range of the store's time type. */
const time = (ms: number) => Math.min(Math.max(ms, 0), LAST_MS);

/** JSON has no way to write these numbers; the store reads their names. */
function number(value: number): number | string {
  if (Number.isFinite(value)) return value;
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
}

function numbers(map: Readonly<Record<string, number>>): Row {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, number(value)]));
}

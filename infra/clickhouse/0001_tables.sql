-- Every record of the log, lossless: the other tables can be made again from this one.
CREATE TABLE IF NOT EXISTS event_log (
  topic LowCardinality(String),
  partition UInt16,
  offset UInt64,
  key String,
  type LowCardinality(String),
  time DateTime64(3, 'UTC'),
  headers Map(LowCardinality(String), String),
  value_b64 String EPHEMERAL,
  value String DEFAULT base64Decode(value_b64) CODEC(ZSTD(1))
) ENGINE = MergeTree ORDER BY (topic, partition, offset)
SETTINGS non_replicated_deduplication_window = 10000;

-- Which archive this is: a new one reads the log from its beginning.
CREATE TABLE IF NOT EXISTS archive_identity (id String)
ENGINE = MergeTree ORDER BY id;

CREATE TABLE IF NOT EXISTS runs (
  run_id String,
  config String,
  digest String,
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY run_id
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS run_ends (
  run_id String,
  reason String,
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY run_id
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS rollout_requests (
  run_id String,
  group_id String,
  rollout_id String,
  task_id String,
  harness LowCardinality(String),
  group_size Int32,
  place Int32,
  purpose LowCardinality(String),
  step Nullable(Int32),
  pinned_version Nullable(String),
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY (run_id, group_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- What happened to an attempt: RolloutStarted, RolloutSealed, RolloutEnded, RolloutAbandoned,
-- VerificationFailed.
CREATE TABLE IF NOT EXISTS attempt_events (
  run_id String,
  group_id String,
  rollout_id String,
  attempt Nullable(Int32),
  event LowCardinality(String),
  outcome Nullable(String),
  detail Nullable(String),
  isolation LowCardinality(String),
  exit_code Nullable(Int32),
  wall_ms Nullable(Float64),
  call_count Nullable(Int32),
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY (run_id, rollout_id, event)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS model_calls (
  run_id String,
  group_id String,
  rollout_id String,
  attempt Int32,
  seq Int32,
  call_id String,
  task_id String,
  harness LowCardinality(String),
  dialect LowCardinality(String),
  parent_call_id Nullable(String),
  prefix_token_count Int32,
  env_token_ids_b64 String EPHEMERAL,
  env_token_ids Array(Int32) DEFAULT reinterpret(base64Decode(env_token_ids_b64), 'Array(Int32)'),
  sampled_token_ids_b64 String EPHEMERAL,
  sampled_token_ids Array(Int32) DEFAULT reinterpret(base64Decode(sampled_token_ids_b64), 'Array(Int32)'),
  rollout_logprobs_b64 String EPHEMERAL,
  rollout_logprobs Array(Float32) DEFAULT reinterpret(base64Decode(rollout_logprobs_b64), 'Array(Float32)'),
  policy_versions Array(String),
  finish_reason LowCardinality(String),
  temperature Float64,
  logprobs_mode LowCardinality(String),
  constrained_by Nullable(String),
  thread_key Nullable(String),
  agent_id Nullable(String),
  template_divergence Int32,
  response String CODEC(ZSTD(1)),
  requested_at DateTime64(3, 'UTC'),
  completed_at DateTime64(3, 'UTC'),
  engine_ms Float64
) ENGINE = MergeTree ORDER BY (run_id, rollout_id, attempt, seq)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS failed_calls (
  run_id String,
  group_id String,
  rollout_id String,
  attempt Int32,
  seq Int32,
  call_id String,
  reason LowCardinality(String),
  detail Nullable(String),
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY (run_id, rollout_id, attempt, seq)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS rewards (
  run_id String,
  group_id String,
  rollout_id String,
  attempt Int32,
  reward Float64,
  criteria Map(String, Float64),
  flag Nullable(String),
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY (run_id, rollout_id, attempt)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS settlements (
  run_id String,
  group_id String,
  rollout_id String,
  scored_attempt Nullable(Int32),
  outcome LowCardinality(String),
  attempts Int32,
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY (run_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- One row per call and what its tree said of it; see call_fate for what became of it in the end.
CREATE TABLE IF NOT EXISTS verdicts (
  run_id String,
  group_id String,
  rollout_id String,
  attempt Int32,
  call_id String,
  kind LowCardinality(String),
  verdict LowCardinality(String),
  reason Nullable(String)
) ENGINE = MergeTree ORDER BY (run_id, rollout_id, attempt, call_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS trees (
  run_id String,
  group_id String,
  rollout_id String,
  attempt Int32,
  segments Int32,
  leaves Int32,
  calls Int32,
  diagnostic Nullable(String)
) ENGINE = MergeTree ORDER BY (run_id, rollout_id, attempt)
SETTINGS non_replicated_deduplication_window = 10000;

-- RolloutDropped (scope rollout) and GroupDropped (scope group; rollout_id is empty).
CREATE TABLE IF NOT EXISTS drops (
  run_id String,
  group_id String,
  rollout_id String,
  scope LowCardinality(String),
  attempt Nullable(Int32),
  reason LowCardinality(String),
  detail Nullable(String)
) ENGINE = MergeTree ORDER BY (run_id, group_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS closed_groups (
  run_id String,
  group_id String,
  outcome LowCardinality(String),
  calls Int32
) ENGINE = MergeTree ORDER BY (run_id, group_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS scored_groups (
  run_id String,
  group_id String,
  task_id String,
  harness LowCardinality(String),
  size Int32,
  scored Int32,
  mean Float64,
  std Float64,
  excluded_mean_reward Nullable(Float64)
) ENGINE = MergeTree ORDER BY (run_id, group_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS scored_rollouts (
  run_id String,
  group_id String,
  rollout_id String,
  attempt Int32,
  reward Float64,
  advantage Nullable(Float64),
  leaves Int32,
  total_tokens Int64,
  trained_tokens Int64
) ENGINE = MergeTree ORDER BY (run_id, group_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS training_batches (
  run_id String,
  batch_number Int32,
  batch_id String,
  groups Array(String),
  samples Int32,
  total_tokens Int64,
  trained_tokens Int64,
  harnesses Map(String, Float64),
  stale_groups Array(String),
  policy_step Int32,
  trained_through_batch Int32,
  loss_aggregation LowCardinality(String),
  algorithm LowCardinality(String)
) ENGINE = MergeTree ORDER BY (run_id, batch_number)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS training_samples (
  run_id String,
  batch_id String,
  group_id String,
  rollout_id String,
  attempt Int32,
  reward Float64,
  advantage Nullable(Float64),
  leaves Int32,
  total_tokens Int64,
  trained_tokens Int64,
  policy_versions Array(String),
  call_ids Array(String)
) ENGINE = MergeTree ORDER BY (run_id, batch_id, group_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- As recorded, repetitions included; see policy_steps.
CREATE TABLE IF NOT EXISTS policies (
  run_id String,
  position Int64,
  version String,
  trained_through_batch Nullable(Int32),
  metrics Map(String, Float64),
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY (run_id, position)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS dead_letters (
  topic LowCardinality(String),
  partition Int32,
  offset Int64,
  code LowCardinality(String),
  message String,
  key Nullable(String),
  at DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY (topic, partition, offset)
SETTINGS non_replicated_deduplication_window = 10000;

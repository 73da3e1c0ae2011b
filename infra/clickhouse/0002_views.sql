-- A version's step is the place of its first publication; repetitions do not count.
CREATE OR REPLACE VIEW policy_steps AS
SELECT run_id, version, row_number() OVER (PARTITION BY run_id ORDER BY first_position) - 1 AS step,
  trained_through_batch, metrics, at
FROM (
  SELECT run_id, version, min(position) AS first_position,
    argMin(trained_through_batch, position) AS trained_through_batch,
    argMin(metrics, position) AS metrics, min(policies.at) AS at
  FROM policies GROUP BY run_id, version
);

-- Groups dropped, by their own stage or found stale when a batch was cut.
CREATE OR REPLACE VIEW dropped_groups AS
SELECT run_id, group_id, any(why) AS reason
FROM (
  SELECT run_id, group_id, toString(reason) AS why FROM drops WHERE scope = 'group'
  UNION ALL
  SELECT run_id, arrayJoin(stale_groups) AS group_id, 'stale' AS why FROM training_batches
)
GROUP BY run_id, group_id;

-- What became of each call. Its tree's verdict stands unless its rollout or group was dropped later.
CREATE OR REPLACE VIEW call_fate AS
SELECT calls.run_id AS run_id, calls.group_id AS group_id, calls.rollout_id AS rollout_id,
  calls.attempt AS attempt, calls.seq AS seq, calls.call_id AS call_id, calls.harness AS harness,
  calls.sampled AS sampled_tokens, calls.env AS env_tokens, v.kind AS kind,
  multiIf(
    v.verdict = '' AND closed.group_id != '', 'dropped',
    v.verdict = '', 'pending',
    v.verdict = 'trained' AND (rd.rollout_id != '' OR gd.group_id != ''), 'dropped',
    v.verdict) AS fate,
  multiIf(
    v.verdict = '' AND closed.group_id != '', 'late',
    v.verdict = 'trained' AND rd.rollout_id != '', rd.why,
    v.verdict = 'trained' AND gd.group_id != '', gd.reason,
    ifNull(v.reason, '')) AS reason
FROM (
  SELECT run_id, group_id, rollout_id, attempt, seq, call_id, toString(harness) AS harness,
    length(sampled_token_ids) AS sampled, length(env_token_ids) AS env
  FROM model_calls
  UNION ALL
  SELECT run_id, group_id, rollout_id, attempt, seq, call_id, '' AS harness, 0 AS sampled, 0 AS env
  FROM failed_calls
) AS calls
LEFT JOIN (
  SELECT run_id, rollout_id, attempt, call_id, any(toString(verdicts.kind)) AS kind,
    any(toString(verdicts.verdict)) AS verdict, any(verdicts.reason) AS reason
  FROM verdicts GROUP BY run_id, rollout_id, attempt, call_id
) AS v
  ON v.run_id = calls.run_id AND v.rollout_id = calls.rollout_id AND v.attempt = calls.attempt
  AND v.call_id = calls.call_id
LEFT JOIN (
  SELECT run_id, rollout_id, any(toString(reason)) AS why FROM drops WHERE drops.scope = 'rollout'
  GROUP BY run_id, rollout_id
) AS rd ON rd.run_id = calls.run_id AND rd.rollout_id = calls.rollout_id
LEFT JOIN dropped_groups AS gd ON gd.run_id = calls.run_id AND gd.group_id = calls.group_id
LEFT JOIN (SELECT DISTINCT run_id, group_id FROM closed_groups) AS closed
  ON closed.run_id = calls.run_id AND closed.group_id = calls.group_id;

-- Settled rollouts that reached reward 1. Failures of any kind stay in the denominator.
CREATE OR REPLACE VIEW pass_at_1 AS
SELECT q.run_id AS run_id, q.purpose AS purpose, q.step AS step, q.harness AS harness,
  anyLast(ifNull(q.pinned_version, p.version)) AS policy_version,
  count() AS rollouts, countIf(ifNull(r.reward, 0) >= 1 - 1e-9) AS passed,
  passed / rollouts AS pass_at_1, avg(r.reward) AS mean_reward,
  countIf(s.scored_attempt IS NULL) AS without_reward
FROM rollout_requests AS q
INNER JOIN settlements AS s ON s.run_id = q.run_id AND s.rollout_id = q.rollout_id
LEFT JOIN (
  SELECT run_id, rollout_id, attempt, toNullable(any(rewards.reward)) AS reward
  FROM rewards GROUP BY run_id, rollout_id, attempt
) AS r ON r.run_id = s.run_id AND r.rollout_id = s.rollout_id AND r.attempt = ifNull(s.scored_attempt, -1)
LEFT JOIN policy_steps AS p ON p.run_id = q.run_id AND p.step = ifNull(q.step, -1)
GROUP BY q.run_id, q.purpose, q.step, q.harness
ORDER BY run_id, purpose, step, harness;

-- Why something was not trained, counted at the level where it was decided.
CREATE OR REPLACE VIEW discards AS
SELECT run_id, scope, reason, count() AS count
FROM (
  SELECT run_id, 'call' AS scope, ifNull(reason, '') AS reason FROM verdicts WHERE verdict = 'dropped'
  UNION ALL
  SELECT run_id, 'rollout' AS scope, toString(reason) FROM drops WHERE drops.scope = 'rollout'
  UNION ALL
  SELECT run_id, 'group' AS scope, reason FROM dropped_groups
)
GROUP BY run_id, scope, reason
ORDER BY run_id, scope, count DESC, reason;

CREATE OR REPLACE VIEW tokens_by_verdict AS
SELECT run_id, fate, reason, count() AS calls, sum(sampled_tokens) AS sampled, sum(env_tokens) AS env
FROM call_fate
GROUP BY run_id, fate, reason
ORDER BY run_id, sampled DESC;

-- How many policy steps old the samples of a batch were, by their oldest token.
CREATE OR REPLACE VIEW staleness AS
SELECT b.run_id AS run_id, b.batch_number AS batch_number, any(b.policy_step) AS policy_step,
  count() AS samples, max(b.policy_step - s.oldest) AS max_staleness,
  avg(b.policy_step - s.oldest) AS mean_staleness
FROM training_batches AS b
INNER JOIN (
  SELECT sample.run_id AS run_id, sample.batch_id AS batch_id, sample.rollout_id AS rollout_id,
    min(toInt64(p.step)) AS oldest
  FROM (SELECT run_id, batch_id, rollout_id, arrayJoin(policy_versions) AS version FROM training_samples) AS sample
  INNER JOIN policy_steps AS p ON p.run_id = sample.run_id AND p.version = sample.version
  GROUP BY run_id, batch_id, rollout_id
) AS s ON s.run_id = b.run_id AND s.batch_id = b.batch_id
GROUP BY b.run_id, b.batch_number
ORDER BY run_id, batch_number;

CREATE OR REPLACE VIEW branching AS
SELECT t.run_id AS run_id, q.harness AS harness, count() AS trees, avg(t.leaves) AS mean_leaves,
  max(t.leaves) AS max_leaves, avg(t.segments) AS mean_segments, avg(t.calls) AS mean_calls
FROM trees AS t
INNER JOIN rollout_requests AS q ON q.run_id = t.run_id AND q.rollout_id = t.rollout_id
GROUP BY t.run_id, q.harness
ORDER BY run_id, harness;

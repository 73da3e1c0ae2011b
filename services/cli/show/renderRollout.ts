import { wrapText } from '../text/wrapText.ts';
import { type RenderOptions, renderTree } from './renderTree.ts';
import type { ShownAttempt, ShownRollout } from './shownRollout.ts';

/**
 * A rollout as text: what it is, the tree of one attempt with trained tokens in brackets, and what
 * became of it. Pure: the same rollout gives the same text.
 * @param attempt the attempt to draw; by default the one that counts, else the last
 */
export function renderRollout(rollout: ShownRollout, options: RenderOptions, attempt?: number): string {
  const drawn =
    rollout.attempts.find((a) => a.attempt === (attempt ?? rollout.scoredAttempt)) ?? rollout.attempts.at(-1);
  const lines = [
    `rollout ${rollout.rolloutId}`,
    `  run ${rollout.runId}  group ${rollout.groupId}`,
    `  task ${rollout.taskId}  harness ${rollout.harness}  ${rollout.purpose}`,
  ];
  if (rollout.instruction !== null) {
    lines.push(
      ...wrapText(`"${rollout.instruction.replaceAll('\n', ' ')}"`, options.columns - 2).map((l) => `  ${l}`),
    );
  }
  if (drawn === undefined) return [...lines, '', 'not started yet'].join('\n');
  lines.push('', attemptLine(drawn, rollout), '', ...renderTree(drawn.calls, options));
  for (const call of drawn.aside) {
    const detail = call.detail === null ? '' : `: ${call.detail}`;
    lines.push(`call ${call.seq}  ${call.verdict}, ${call.reason ?? 'no reason'}${detail}`);
  }
  lines.push('', ...summary(drawn, rollout));
  for (const other of rollout.attempts.filter((a) => a !== drawn)) {
    lines.push(`  ${attemptLine(other, rollout)} (--attempt ${other.attempt} draws it)`);
  }
  return lines.join('\n');
}

function attemptLine(attempt: ShownAttempt, rollout: ShownRollout): string {
  const counts =
    rollout.scoredAttempt === undefined
      ? 'not settled yet'
      : rollout.scoredAttempt === attempt.attempt
        ? 'counts'
        : 'does not count';
  const parts = [
    `attempt ${attempt.attempt}`,
    attempt.outcome ?? 'running',
    plural(attempt.calls.length + attempt.aside.length, 'call'),
    plural(attempt.segments, 'segment'),
    plural(attempt.leaves, 'main leaf', 'main leaves'),
    ...(attempt.isolation === null ? [] : [attempt.isolation]),
    counts,
  ];
  return parts.join('  ');
}

function summary(attempt: ShownAttempt, rollout: ShownRollout): string[] {
  const { tokens, criteria } = attempt;
  const named = Object.entries(criteria).map(([name, value]) => `${name} ${number(value)}`);
  const reward =
    attempt.reward === null
      ? `none${attempt.verificationFailed === null ? '' : `: ${attempt.verificationFailed}`}`
      : `${number(attempt.reward)}${named.length === 0 ? '' : ` (${named.join(', ')})`}`;
  const { group } = rollout;
  const statistics =
    group.mean === null || group.std === null
      ? ''
      : `, ${group.scored} of ${group.size} scored, mean ${number(group.mean)}, std ${number(group.std)}`;
  const lines = [
    `tokens     ${tokens.total} in the tree, ${tokens.sampled} sampled, ${tokens.trained} trained`,
    `reward     ${reward}`,
    `advantage  ${rollout.advantage === null ? 'none' : signed(rollout.advantage)}`,
    `group      ${group.outcome}${statistics}`,
    `fate       ${rollout.fate}`,
  ];
  if (attempt.drop !== null && attempt.dropDetail !== null) lines.push(`detail     ${attempt.dropDetail}`);
  if (attempt.verdictsAgree === false) {
    lines.push('warning    judging the recorded events again gives other verdicts than those on record');
  }
  return lines;
}

const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
const number = (value: number): string => String(Number(value.toPrecision(6)));
const signed = (value: number): string => `${value < 0 ? '' : '+'}${number(value)}`;

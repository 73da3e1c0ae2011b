import type { TaskVerifier } from '../../infra/process/task/task.ts';

/** What a grader left behind. */
export interface GraderOutput {
  /** Content of reward.json, null when there is none. */
  readonly rewardJson: string | null;
  readonly rewardTxt: string | null;
  readonly stdout: string;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
}

export type Report =
  | { readonly ok: true; readonly reward: number; readonly criteria: Readonly<Record<string, number>> | null }
  | { readonly ok: false; readonly reason: string };

type Rules = Pick<TaskVerifier, 'criteria' | 'exitCode'>;

/**
 * Reads a reward in [0, 1] out of a grader's output: reward.json, else reward.txt, else the last line of stdout, else
 * (where the task says so) the exit code. Anything that is no such number is a failure of the grader, never 0.
 */
export function readReport(output: GraderOutput, rules: Rules): Report {
  const { exitCode } = output;
  // 126 and 127: the shell could not run it; above 128: a signal ended it.
  const crashed = exitCode === null || exitCode > 125 || (exitCode !== 0 && !rules.exitCode);
  if (crashed)
    return fail(exitCode === null ? 'it was ended by a signal' : `it ended with exit code ${exitCode}`);
  if (output.rewardJson !== null) return readJson(output.rewardJson, rules);
  if (output.rewardTxt !== null) return readNumber(output.rewardTxt, 'reward.txt');
  const lastLine = output.stdout.trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (rules.exitCode && !isNumeral(lastLine))
    return { ok: true, reward: exitCode === 0 ? 1 : 0, criteria: null };
  return readNumber(lastLine, 'the last line of its output');
}

function readJson(text: string, rules: Rules): Report {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fail('reward.json is no JSON');
  }
  if (value === null || typeof value !== 'object') return fail('reward.json is no object');
  const { reward, criteria } = value as { reward?: unknown; criteria?: unknown };
  if (criteria !== undefined && (criteria === null || typeof criteria !== 'object')) {
    return fail('criteria in reward.json is no object');
  }
  const named = Object.entries(criteria ?? {});
  for (const [name, score] of named) {
    if (!isScore(score)) return fail(`criterion ${name} is no number from 0 to 1: ${JSON.stringify(score)}`);
  }
  const scores = Object.fromEntries(named) as Record<string, number>;
  if (reward === undefined) return weigh(scores, rules.criteria);
  if (!isScore(reward))
    return fail(`reward in reward.json is no number from 0 to 1: ${JSON.stringify(reward)}`);
  return { ok: true, reward, criteria: named.length > 0 ? scores : null };
}

function weigh(scores: Readonly<Record<string, number>>, weights: Rules['criteria']): Report {
  const names = Object.keys(weights ?? scores);
  if (names.length === 0) return fail('reward.json holds neither a reward nor criteria');
  let sum = 0;
  let total = 0;
  for (const name of names) {
    const score = Object.hasOwn(scores, name) ? scores[name] : undefined;
    if (score === undefined) return fail(`criterion ${name} is missing in reward.json`);
    const weight = weights?.[name] ?? 1;
    sum += weight * score;
    total += weight;
  }
  return { ok: true, reward: Math.min(1, sum / total), criteria: scores };
}

function readNumber(text: string, where: string): Report {
  const numeral = text.trim();
  if (!isNumeral(numeral)) return fail(`${where} is no number: ${JSON.stringify(numeral.slice(0, 80))}`);
  const reward = Number(numeral);
  return isScore(reward)
    ? { ok: true, reward, criteria: null }
    : fail(`${where} is outside 0 to 1: ${numeral}`);
}

function isNumeral(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
}

function isScore(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function fail(reason: string): Report {
  return { ok: false, reason };
}

import { cutLines } from './cutLines.ts';
import { elideMiddle, visibleText } from './elide.ts';
import type { ShownCall } from './shownRollout.ts';

/** How a tree is drawn. */
export interface RenderOptions {
  /** Characters of a line. */
  readonly columns: number;
  /** Trained text green, dropped text red. */
  readonly colour: boolean;
  /** Whole inputs instead of their beginning and end. */
  readonly full: boolean;
}

const GREEN = '\u001b[32m';
const RED = '\u001b[31m';
const DIM = '\u001b[2m';
const PLAIN = '\u001b[0m';

/** Characters of an input that are shown where it is not asked for in full. */
const ENV_CHARACTERS = 240;

/**
 * The tree of an attempt, roots in call order. A chain of calls runs straight down; where it forks,
 * side branches are indented and the branch that goes on stays in its column.
 */
export function renderTree(calls: readonly ShownCall[], options: RenderOptions): string[] {
  const children = new Map<string | null, ShownCall[]>();
  for (const call of calls)
    children.set(call.parentCallId, [...(children.get(call.parentCallId) ?? []), call]);
  const lines: string[] = [];
  // A stack of what is still to draw, since chains are as long as rollouts.
  const pending = (children.get(null) ?? []).map((call) => ({ call, rail: '' })).reverse();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { call, rail } = next;
    const below = children.get(call.callId) ?? [];
    lines.push(...renderCall(call, rail, below.length > 0, options));
    const main = below.find(goesOn) ?? below.at(-1);
    if (main !== undefined) pending.push({ call: main, rail });
    for (const side of below.filter((child) => child !== main).reverse()) {
      pending.push({ call: side, rail: `${rail}│  ` });
    }
  }
  return lines;
}

const goesOn = (call: ShownCall): boolean => call.kind === 'main' && call.verdict !== 'dropped';

function renderCall(call: ShownCall, rail: string, hasMore: boolean, options: RenderOptions): string[] {
  const paint = (colour: string, text: string): string =>
    options.colour ? `${colour}${text}${PLAIN}` : text;
  const lines: string[] = [];
  if (call.opens === 'compaction') lines.push(`${rail}── segment ${call.segment}: after a compaction ──`);
  if (call.opens === 'rewritten') lines.push(`${rail}── segment ${call.segment}: rewritten history ──`);
  const verdict = call.reason === null ? call.verdict : `${call.verdict}, ${call.reason}`;
  const colour = call.verdict === 'trained' ? GREEN : call.verdict === 'dropped' ? RED : DIM;
  const about = [
    `call ${call.seq}  ${call.kind}`,
    paint(colour, verdict),
    `${call.inputTokens} in, ${call.sampledTokenIds.length} out`,
    call.finishReason,
    ...(call.policyVersions.length === 0 ? [] : [`policy ${call.policyVersions.join('+')}`]),
  ];
  lines.push(`${rail}${rail === '' ? '●' : '○'} ${about.join('  ')}`);
  const margin = `${rail}${hasMore ? '│' : ' '} `;
  const width = Math.max(20, options.columns - margin.length - 4);
  const part = (label: string, text: string, tint: string | undefined): void => {
    cutLines(text, width).forEach((whole, i) => {
      const line = whole.trimEnd();
      lines.push(`${margin}${i === 0 ? label : '    '}${tint === undefined ? line : paint(tint, line)}`);
    });
  };
  if (call.envTokenIds.length > 0) part('in  ', envText(call, options.full), DIM);
  const sampled = call.sampledText === null ? call.sampledTokenIds.join(' ') : visibleText(call.sampledText);
  if (call.verdict === 'trained') part('out ', `[${sampled}]`, GREEN);
  else part('out ', sampled === '' ? '(nothing)' : sampled, call.verdict === 'dropped' ? RED : DIM);
  return lines;
}

function envText(call: ShownCall, full: boolean): string {
  const text = call.envText === null ? call.envTokenIds.join(' ') : visibleText(call.envText);
  return full ? text : elideMiddle(text, ENV_CHARACTERS, `(${call.envTokenIds.length} tokens)`);
}

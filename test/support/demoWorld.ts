// A simulated demo world: the policy, a tool loop over a workspace in memory, and the demo task with its criteria.
// No processes and no HTTP; the prompts are built the way the proxy builds them (stored ids + newly encoded ids).

import { pick, type Rng, shuffled } from '../../infra/engine/tiny/rng.ts';
import { type SamplerScratch, sampleReply } from '../../infra/engine/tiny/sampleReply.ts';
import type { ChatTool, TinyChat } from '../../infra/engine/tiny/tinyChat.ts';
import { decodeIds, type Vocabulary } from '../../infra/engine/tiny/vocabulary.ts';
import type { Weights } from '../../infra/engine/tiny/weights.ts';
import type { TreeNode } from '../../schemas/generated/events.ts';

const tool = (name: string, description: string, keys: readonly string[]): ChatTool => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(keys.map((key) => [key, { type: 'string' }])),
      required: keys,
    },
  },
});

export const DEMO_TOOLS: readonly ChatTool[] = [
  tool('read_file', 'Read a file.', ['path']),
  tool('write_file', 'Write a file.', ['path', 'content']),
  tool('shell', 'Run a shell command.', ['command']),
  tool('delegate', 'Ask a helper who can read files.', ['prompt']),
];

export interface DemoTask {
  readonly file: string;
  readonly instruction: string;
  readonly lines: readonly string[];
  readonly words: readonly string[];
  readonly code: string;
}

const word = (rng: Rng) => pick(rng, SYLLABLES) + pick(rng, SYLLABLES);
const SYLLABLES = [...'bdfgklmnprstvz'].flatMap((c) => [...'aeiou'].map((v) => c + v));

export function demoTask(rng: Rng): DemoTask {
  const [name, code, note, list] = [word(rng), word(rng), word(rng), word(rng)] as [
    string,
    string,
    string,
    string,
  ];
  return {
    file: `${name}.txt`,
    instruction: `Read ${name}.txt and write its code to answer.txt.`,
    lines: shuffled(rng, [`code: ${code}`, `note: ${note}`, `list: ${list}`]),
    words: [code, note, list],
    code,
  };
}

/** The three criteria of the demo task. */
export function demoReward(task: DemoTask, files: ReadonlyMap<string, string>): number {
  const answer = files.get('answer.txt');
  if (answer === undefined) return 0;
  const content = answer.trim();
  return 0.2 + (task.words.includes(content) ? 0.3 : 0) + (content === task.code ? 0.5 : 0);
}

export interface DemoRollout {
  readonly nodes: TreeNode[];
  readonly keptLeaves: number[];
  readonly reward: number;
  readonly calls: number;
  readonly malformed: number;
  readonly tokens: number;
  readonly text: string;
}

export interface DemoPolicy {
  readonly vocabulary: Vocabulary;
  readonly chat: TinyChat;
  readonly weights: Weights;
  readonly version: string;
  readonly scratch: SamplerScratch;
}

const MAX_TURNS = 6;
const MAX_NEW_TOKENS = 96;

interface Usage {
  calls: number;
  malformed: number;
  tokens: number;
}

/** Runs one rollout; the sub-agents' calls count as usage and are no nodes, as the filters would have it. */
export function demoRollout(policy: DemoPolicy, task: DemoTask, rng: Rng): DemoRollout {
  const files = new Map([[task.file, `${task.lines.join('\n')}\n`]]);
  const usage: Usage = { calls: 0, malformed: 0, tokens: 0 };
  const nodes = agent(
    policy,
    'You are Alder, an agent. Work in the current directory with the tools. When the task is done, reply without a tool call.',
    task.instruction,
    files,
    rng,
    usage,
    0,
  );
  return {
    nodes,
    keptLeaves: [nodes.length - 1],
    reward: demoReward(task, files),
    ...usage,
    text: nodes.map((n) => decodeIds(policy.vocabulary, n.tokenIds)).join('|'),
  };
}

function agent(
  policy: DemoPolicy,
  system: string,
  instruction: string,
  files: Map<string, string>,
  rng: Rng,
  usage: Usage,
  depth: number,
): TreeNode[] {
  const { vocabulary, chat } = policy;
  const tools = depth === 0 ? DEMO_TOOLS : DEMO_TOOLS.slice(0, 1);
  const nodes: TreeNode[] = [];
  let history: number[] = [];
  let fresh = chat.prompt(
    [
      { role: 'system', content: system },
      { role: 'user', content: instruction },
    ],
    tools,
  );
  for (let turn = 0; turn < (depth === 0 ? MAX_TURNS : 3); turn++) {
    const input = [...history, ...fresh];
    let reply = sample(policy, input, rng, usage);
    let calls = parseCalls(decodeIds(vocabulary, reply.ids));
    if (calls === null) {
      usage.malformed++;
      reply = sample(policy, input, rng, usage); // one retry; the first attempt is superseded
      calls = parseCalls(decodeIds(vocabulary, reply.ids)) ?? [];
    }
    nodes.push({
      parent: nodes.length - 1,
      tokenIds: Int32Array.from([...fresh, ...reply.ids]),
      sampledFrom: fresh.length,
      rolloutLogprobs: Float32Array.from(reply.logprobs),
      policySpans: [{ version: policy.version, start: 0, end: reply.ids.length }],
      callId: `call-${usage.calls}`,
      temperature: 1,
      logprobsMode: 'processed',
      finishReason: 'stop',
    });
    if (calls.length === 0) break;
    const results = calls.map((call) => execute(policy, call, files, rng, usage, depth));
    history = [...input, ...reply.ids];
    const close = reply.ids.at(-1) === vocabulary.turnEnd ? '' : '<|im_end|>';
    const responses = results.map((text) => `\n<tool_response>\n${text}\n</tool_response>`).join('');
    fresh = chat.encode(`${close}\n<|im_start|>user${responses}<|im_end|>\n<|im_start|>assistant\n`);
  }
  return nodes;
}

function sample(policy: DemoPolicy, input: number[], rng: Rng, usage: Usage) {
  const tokens = sampleReply(
    policy.vocabulary,
    policy.weights,
    input,
    { maxNewTokens: MAX_NEW_TOKENS, temperature: 1, stopIds: new Set([policy.vocabulary.turnEnd]), rng },
    policy.scratch,
  );
  usage.calls++;
  usage.tokens += tokens.length;
  return { ids: tokens.map((t) => t.id), logprobs: tokens.map((t) => t.logprob) };
}

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Calls of a reply; empty for plain text; null when a call was begun and cannot be read. */
export function parseCalls(text: string): Call[] | null {
  if (!text.includes('<tool_call>')) return text.includes('<tool') ? null : [];
  const calls: Call[] = [];
  for (const part of text.split('<tool_call>').slice(1)) {
    const end = part.indexOf('</tool_call>');
    if (end < 0) return null;
    try {
      const call = JSON.parse(part.slice(0, end)) as Call;
      if (typeof call.name !== 'string' || typeof call.arguments !== 'object' || call.arguments === null)
        return null;
      calls.push(call);
    } catch {
      return null;
    }
  }
  return calls;
}

function execute(
  policy: DemoPolicy,
  call: Call,
  files: Map<string, string>,
  rng: Rng,
  usage: Usage,
  depth: number,
): string {
  const arg = (key: string) =>
    typeof call.arguments[key] === 'string' ? (call.arguments[key] as string) : null;
  const path = arg('path');
  switch (call.name) {
    case 'read_file':
      return (path === null ? null : files.get(path)?.trimEnd()) ?? 'error: no such file';
    case 'write_file': {
      const content = arg('content');
      if (path === null || content === null) return 'Error: path and content are needed';
      files.set(path, content);
      return 'ok';
    }
    case 'shell': {
      const command = arg('command') ?? '';
      const file = /^cat (\S+)$/.exec(command)?.[1];
      if (command === 'ls') return [...files.keys()].join('\n');
      return (file === undefined ? undefined : files.get(file)?.trimEnd()) ?? 'error: command not found';
    }
    case 'delegate': {
      const prompt = arg('prompt');
      if (prompt === null || depth > 0) return 'Error: cannot delegate';
      const nodes = agent(
        policy,
        'You are a helper of Alder. Answer the request briefly. You may read files.',
        prompt,
        files,
        rng,
        usage,
        1,
      );
      const last = nodes.at(-1) as TreeNode;
      return decodeIds(policy.vocabulary, last.tokenIds.slice(last.sampledFrom)).slice(0, 80);
    }
    default:
      return `Error: unknown tool ${call.name}`;
  }
}

/** Group-relative advantages; null when the group has no variance. */
export function groupAdvantages(rewards: readonly number[]): number[] | null {
  if (Math.max(...rewards) - Math.min(...rewards) < 1e-6) return null;
  const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length;
  const std = Math.sqrt(rewards.reduce((a, r) => a + (r - mean) ** 2, 0) / rewards.length);
  return rewards.map((r) => (r - mean) / (std + 1e-6));
}

/** Share of `tasks` solved, one rollout each. */
export function passAt1(policy: DemoPolicy, tasks: readonly DemoTask[], rng: Rng): number {
  let passed = 0;
  for (const task of tasks) if (demoRollout(policy, task, rng).reward >= 1 - 1e-9) passed++;
  return passed / tasks.length;
}

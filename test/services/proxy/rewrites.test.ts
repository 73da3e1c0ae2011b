import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropic } from '../../../services/proxy/dialects/anthropic.ts';
import { chatCompletions } from '../../../services/proxy/dialects/chatCompletions.ts';
import { lineageWorld } from '../../support/lineageWorld.ts';

// What harnesses do to the history between two requests, as recorded of real ones. Each rewrite takes
// the history it would send and returns another that means the same.
type Json = Record<string, unknown>;
type Rewrite = (body: Json, pick: (n: number) => number) => Json;

const clone = <T>(value: T): T => structuredClone(value);
const blocksOf = (message: Json): Json[] =>
  Array.isArray(message.content) ? (message.content as Json[]) : [];
const messagesOf = (body: Json): Json[] => body.messages as Json[];
const reversed = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(reversed)
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, inner]) => [key, reversed(inner)]),
        )
      : value;
const edit = (body: Json, change: (message: Json) => void): Json => {
  const copy = clone(body);
  for (const message of messagesOf(copy)) change(message);
  return copy;
};
const inAssistant = (body: Json, change: (message: Json) => void): Json =>
  edit(body, (message) => (message.role === 'assistant' ? change(message) : undefined));
const withoutPunctuation = (id: unknown): string => String(id).replace(/[^A-Za-z0-9]/gu, '');
const withPunctuation = (id: unknown): string => `${String(id).slice(0, 4)}_${String(id).slice(4)}`;

const anthropicRewrites: readonly Rewrite[] = [
  (body, pick) =>
    edit(body, (message) => {
      for (const block of blocksOf(message)) if (pick(2) === 0) block.cache_control = { type: 'ephemeral' };
    }),
  (body) => ({ ...body, messages: messagesOf(body).map(reversed) }),
  (body) =>
    edit(body, (message) => {
      if (typeof message.content === 'string') message.content = [{ type: 'text', text: message.content }];
    }),
  (body) =>
    edit(body, (message) => {
      const [only, more] = blocksOf(message);
      if (only?.type === 'text' && more === undefined) message.content = only.text;
    }),
  (body, pick) => ({
    ...body,
    system: [
      { type: 'text', text: `x-anthropic-billing-header: cc_version=${pick(99)};` },
      { type: 'text', text: 'You work.', cache_control: { type: 'ephemeral' } },
    ],
  }),
  (body) =>
    inAssistant(body, (message) => {
      for (const block of blocksOf(message))
        if (block.type === 'tool_use') block.input = { other: true, replace_all: false };
    }),
  (body) =>
    inAssistant(body, (message) => {
      if (Array.isArray(message.content))
        message.content = blocksOf(message).filter((block) => block.type !== 'thinking');
    }),
  (body) =>
    edit(body, (message) => {
      for (const block of blocksOf(message)) {
        if (block.type === 'tool_use') block.id = withoutPunctuation(block.id);
        if (block.type === 'tool_result') block.tool_use_id = withPunctuation(block.tool_use_id);
      }
    }),
  (body) =>
    inAssistant(body, (message) => {
      for (const block of blocksOf(message))
        if (block.type === 'text') block.text = `\n${String(block.text).trim()}\r\n`;
    }),
  (body) => ({
    ...body,
    messages: [...messagesOf(body), { role: 'system', content: [], output_config: {} }],
  }),
  (body) => ({ ...body, metadata: { user_id: 'x' }, max_tokens: 999, temperature: 0.3 }),
];

const chatRewrites: readonly Rewrite[] = [
  (body) => ({ ...body, messages: messagesOf(body).map(reversed) }),
  (body) =>
    inAssistant(body, (message) => {
      if (message.content === null) message.content = '';
      else if (String(message.content).trim() === '') message.content = null;
    }),
  (body) =>
    inAssistant(body, (message) => {
      for (const call of (message.tool_calls as Json[] | undefined) ?? []) {
        const target = call.function as Json;
        target.arguments = JSON.stringify(JSON.parse(String(target.arguments)), null, 2);
      }
    }),
  (body) =>
    inAssistant(body, (message) => {
      for (const call of (message.tool_calls as Json[] | undefined) ?? [])
        (call.function as Json).arguments = '{}';
    }),
  (body) =>
    edit(body, (message) => {
      for (const call of (message.tool_calls as Json[] | undefined) ?? []) call.id = withPunctuation(call.id);
      if (message.role === 'tool') message.tool_call_id = withoutPunctuation(message.tool_call_id);
    }),
  (body) =>
    edit(body, (message) => {
      if (typeof message.content === 'string') message.content = [{ type: 'text', text: message.content }];
    }),
  (body) => inAssistant(body, (message) => void delete message.reasoning_content),
  (body) =>
    inAssistant(body, (message) => {
      if (typeof message.content === 'string') message.content = message.content.trim();
    }),
  (body) =>
    edit(body, (message) => {
      if (message.role === 'system') message.role = 'developer';
    }),
  (body) => ({ ...body, stream: true, stream_options: { include_usage: true }, seed: 5 }),
];

const toolCall = '<tool_call>\n{"name": "f", "arguments": {"b":1.0,"a":"x y"}}\n</tool_call>';
const reply = fc.constantFrom(
  'plain words',
  ' padded \n\n',
  `before ${toolCall}`,
  `${toolCall}\n${toolCall}`,
  `<think>\nlong thought\n</think>\n\nshown`,
  `<think>t</think>${toolCall}`,
  'broken <tool_call>{"name": ',
  '',
  'same',
  'same',
);
const turns = fc.array(
  fc.record({ reply, rewrites: fc.array(fc.nat(), { maxLength: 4 }), seeds: fc.nat(), ends: fc.boolean() }),
  { minLength: 2, maxLength: 7 },
);
type Turns = typeof turns extends fc.Arbitrary<infer T> ? T : never;

function rewritten(body: Json, rewrites: readonly Rewrite[], chosen: readonly number[], seed: number): Json {
  let state = seed;
  const pick = (n: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % n;
  };
  return chosen.reduce((at, index) => rewrites[index % rewrites.length]!(at, pick), body);
}

/** Plays the turns; every call must extend the one before, id for id. */
function expectOneLineage(
  world: ReturnType<typeof lineageWorld>,
  script: Turns,
  bodyOf: (messages: readonly Json[]) => Json,
  answer: (wire: unknown) => Json[],
  rewrites: readonly Rewrite[],
  start: readonly Json[],
): void {
  const messages = [...start];
  let previous: string | null = null;
  for (const turn of script) {
    const body = rewritten(bodyOf(clone(messages)), rewrites, turn.rewrites, turn.seeds);
    const { plan, event, wire } = world.call(body, turn.reply, turn.ends);
    expect(plan.parentCallId).toBe(previous);
    if (previous !== null) {
      const history = world.historyOf(previous);
      expect([...plan.inputIds.subarray(0, history.length)]).toEqual(history);
      expect(plan.forkReason).toBe(null);
    }
    previous = event.callId;
    messages.push(...answer(wire));
  }
}

describe('one lineage through whatever a harness rewrites', () => {
  it('in Anthropic Messages', () => {
    fc.assert(
      fc.property(turns, (script) => {
        const answer = (wire: unknown): Json[] => {
          const content = (wire as { content: Json[] }).content;
          const results = content
            .filter((block) => block.type === 'tool_use')
            .map((use) => ({ type: 'tool_result', tool_use_id: use.id, content: 'result' }));
          const next = results.length > 0 ? results : [{ type: 'text', text: 'go on' }];
          return [
            { role: 'assistant', content },
            { role: 'user', content: next },
          ];
        };
        const tools = [{ name: 'f', description: 'd', input_schema: { type: 'object', properties: {} } }];
        const bodyOf = (messages: readonly Json[]): Json => ({
          model: 'm',
          max_tokens: 9,
          system: 'You work.',
          tools,
          messages,
        });
        expectOneLineage(lineageWorld(anthropic), script, bodyOf, answer, anthropicRewrites, [
          { role: 'user', content: 'do it' },
        ]);
      }),
      { numRuns: 120 },
    );
  });

  it('in Chat Completions', () => {
    fc.assert(
      fc.property(turns, (script) => {
        const answer = (wire: unknown): Json[] => {
          const { message } = (wire as { choices: { message: Json }[] }).choices[0]!;
          const calls = (message.tool_calls as Json[] | undefined) ?? [];
          const results = calls.map((call) => ({ role: 'tool', tool_call_id: call.id, content: 'result' }));
          return [message, ...(results.length > 0 ? results : [{ role: 'user', content: 'go on' }])];
        };
        const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
        const bodyOf = (messages: readonly Json[]): Json => ({ model: 'm', tools, messages });
        expectOneLineage(lineageWorld(chatCompletions), script, bodyOf, answer, chatRewrites, [
          { role: 'system', content: 'You work.' },
          { role: 'user', content: 'do it' },
        ]);
      }),
      { numRuns: 120 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import { anthropic } from '../../../services/proxy/dialects/anthropic.ts';
import { chatCompletions } from '../../../services/proxy/dialects/chatCompletions.ts';
import type { CanonicalReply } from '../../../services/proxy/dialects/dialect.ts';
import { textPieces } from '../../../services/proxy/dialects/sse.ts';

const asked = (messages: unknown, extra: object = {}) =>
  anthropic.readRequest({ model: 'm', max_tokens: 5, messages, ...extra });
const chatted = (messages: unknown, extra: object = {}) =>
  chatCompletions.readRequest({ model: 'm', messages, ...extra });

const reply: CanonicalReply = {
  id: 'abc1',
  model: 'm',
  createdAt: 1,
  reasoning: 'thought',
  content: 'text',
  toolCalls: [
    { id: 'c1', name: 'f', arguments: '{"a": 1.0}' },
    { id: 'c2', name: 'g', arguments: '{}' },
  ],
  finish: 'tool_calls',
  stopString: null,
  inputTokens: 7,
  outputTokens: 3,
};
type Event = Record<string, unknown> & { type: string };
const eventsOf = (sse: string): Event[] =>
  sse
    .split('\n\n')
    .filter((event) => event !== '' && !event.includes('[DONE]'))
    .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Event);

describe('Anthropic requests', () => {
  it('lose the billing line only, and keep system messages in their place', () => {
    const request = asked(
      [
        { role: 'user', content: 'u' },
        { role: 'system', content: 'note' },
        { role: 'system', content: [], output_config: {} },
        { role: 'user', content: 'v' },
      ],
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cc_version=1.2.3.abc;' },
          { type: 'text', text: 'You work.' },
          { type: 'text', text: 'Carefully.' },
        ],
      },
    );
    expect(request.system).toBe('You work.\nCarefully.');
    expect(request.messages.map((message) => `${message.role} ${message.content}`)).toEqual([
      'user u',
      'system note',
      'user v',
    ]);
  });

  it('split tool results from text, in order, and show images as what they are', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const request = asked([
      { role: 'user', content: ['u', 'v'].map((text) => ({ type: 'text', text })) },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 's' },
          { type: 'redacted_thinking', data: 'x' },
          { type: 'tool_use', id: 't1', name: 'look', input: { b: 1, a: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'seen' }, image] },
          { type: 'tool_result', tool_use_id: 't2', content: 'no such file', is_error: true },
          { type: 'tool_result', tool_use_id: 't3' },
          { type: 'text', text: 'now this' },
        ],
      },
    ]);
    expect(request.messages.map(({ role, content, name }) => [role, content, name])).toEqual([
      ['user', 'u\nv', null],
      ['assistant', '', null],
      ['tool', 'seen\n[image not shown: image/png 3 bytes]', 'look'],
      ['tool', 'Error: no such file', null],
      ['tool', '', null],
      ['user', 'now this', null],
    ]);
  });

  it('accept unknown fields and loaded tools, and name what cannot be used', () => {
    const tool = { name: 'f', input_schema: {}, defer_loading: true, cache_control: {} };
    const reference = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'f' }] },
      ],
    };
    const request = asked([reference], { tools: [tool], context_management: {}, anything: 1 });
    expect(request.tools).toEqual([{ name: 'f', description: '', parameters: {} }]);
    expect(request.messages[0]!.content).toBe('[tool available: f]');
    expect(() =>
      asked([{ role: 'user', content: 'x' }], { tools: [{ type: 'web_search_20250305', name: 'w' }] }),
    ).toThrow(/tools\.0: server tools such as web_search_20250305/u);
    expect(() => asked([])).toThrow(/messages must not be empty/u);
    expect(() => asked([{ role: 'user', content: 'x' }], { max_tokens: -1 })).toThrow(/max_tokens/u);
  });
});

describe('Chat Completions requests', () => {
  it('take null, strings and parts alike, and developer messages as system text', () => {
    const request = chatted([
      { role: 'developer', content: [{ type: 'text', text: 'You work.' }] },
      { role: 'user', content: 'u' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{broken' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'r' }] },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
    ]);
    expect(request.system).toBe('You work.');
    expect(request.messages.map(({ role, content }) => `${role} ${content}`)).toEqual([
      'user u',
      'assistant ',
      'tool r',
      expect.stringMatching(/^user \[image not shown/u),
    ]);
    expect(request.messages[1]!.toolCalls[0]!.arguments).toBe('{broken');
    expect(request.messages[2]!.name).toBe('f');
  });

  it('record what was asked of the sampling, and ask the policy in words', () => {
    const request = chatted([{ role: 'user', content: 'u' }], {
      temperature: 0,
      logit_bias: { 1: 5 },
      tool_choice: 'required',
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
      stop: 'END',
      max_completion_tokens: 9,
      max_tokens: 99,
    });
    expect(request.requestedSampling).toMatchObject({ temperature: 0, logit_bias: { 1: 5 } });
    expect(request.notes).toEqual([
      'Reply with a tool call.',
      'Reply with JSON only, matching this schema: {"type":"object"}',
    ]);
    expect([request.stopStrings, request.maxTokens]).toEqual([['END'], 9]);
  });

  it.each([
    [{ n: 2 }, /n must be 1/u],
    [{ functions: [] }, /functions is not supported/u],
    [{ tools: [{ type: 'custom' }] }, /tools\.0: tools of type custom/u],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      /messages\.0\.content\.0.*input_audio/u,
    ],
    [{ messages: [] }, /messages must not be empty/u],
  ])('refuse %j', (extra, message) => {
    expect(() => chatted([{ role: 'user', content: 'u' }], extra)).toThrow(message);
  });
});

describe('Anthropic streams', () => {
  it('begin and end with the true usage, and give every block its own start and stop', () => {
    const events = eventsOf(anthropic.toSse(reply, asked([{ role: 'user', content: 'u' }])));
    const types = events.map((event) => event.type);
    expect(types[0]).toBe('message_start');
    expect(types.slice(-2)).toEqual(['message_delta', 'message_stop']);
    expect(events[0]).toMatchObject({ message: { usage: { input_tokens: 7 }, content: [] } });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 7, output_tokens: 3 },
    });
    const starts = events.filter((event) => event.type === 'content_block_start');
    expect(starts.map((event) => (event.content_block as Event).type)).toEqual([
      'thinking',
      'text',
      'tool_use',
      'tool_use',
    ]);
    expect(types.filter((type) => type === 'content_block_stop')).toHaveLength(4);
    const json = events
      .filter((event) => event.index === 2 && event.type === 'content_block_delta')
      .map((event) => (event.delta as { partial_json: string }).partial_json);
    expect(json.join('')).toBe('{"a": 1.0}');
  });

  it('end with an error event where something went wrong', () => {
    expect(anthropic.toSseError({ kind: 'unavailable', message: 'x' })).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n',
    );
  });
});

describe('Chat Completions streams', () => {
  it('send usage only when asked for, after the finish, and [DONE] last', () => {
    const plain = chatCompletions.toSse(reply, chatted([{ role: 'user', content: 'u' }]));
    expect(plain).not.toContain('usage');
    const asked = chatted([{ role: 'user', content: 'u' }], { stream_options: { include_usage: true } });
    const sse = chatCompletions.toSse(reply, asked);
    expect(sse.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(eventsOf(sse).at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    });
  });
});

describe('text pieces', () => {
  it('never cut a character', () => {
    const text = `${'x'.repeat(4_095)}🙂${'y'.repeat(5_000)}`;
    const pieces = textPieces(text);
    expect(pieces.join('')).toBe(text);
    for (const piece of pieces) expect(encodeURIComponent(piece)).not.toBe('');
  });
});

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { ScriptedReply } from '../../../infra/engine/scriptedReply.ts';
import type { ModelCalled } from '../../../schemas/generated/events.ts';
import { type ProxyWorld, proxyWorld, tinyModel } from '../../support/proxyWorld.ts';

let world: ProxyWorld;
afterEach(() => world.close());

const call = (name: string, args: object): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const readCall = call('read_file', { path: 'kelo.txt' });
const tool = {
  name: 'read_file',
  description: 'Read a file',
  input_schema: { type: 'object' as const, properties: { path: { type: 'string' } } },
};
const chatTool = {
  type: 'function' as const,
  function: { name: tool.name, description: tool.description, parameters: tool.input_schema },
};

async function withAnthropic(script: readonly ScriptedReply[]): Promise<Anthropic> {
  world = await proxyWorld(script);
  return new Anthropic({ baseURL: world.proxy.modelUrl, apiKey: world.token, maxRetries: 2 });
}

async function withOpenAI(script: readonly ScriptedReply[]): Promise<OpenAI> {
  world = await proxyWorld(script);
  return new OpenAI({ baseURL: `${world.proxy.modelUrl}/v1`, apiKey: world.token, maxRetries: 2 });
}

/** Every call's recorded path is, id for id, what the engine saw. */
function expectExactInputs(): void {
  const byId = new Map(world.calls().map((event) => [event.callId, event]));
  const history = (event: ModelCalled): number[] => [...inputOf(event), ...event.sampledTokenIds];
  const inputOf = (event: ModelCalled): number[] => [
    ...(event.parentCallId === null ? [] : history(byId.get(event.parentCallId)!)),
    ...event.envTokenIds,
  ];
  const served = world.engine.calls.filter((served) => !served.aborted).map((served) => served.inputIds);
  for (const event of world.calls()) expect(served).toContainEqual(inputOf(event));
}

describe('Anthropic SDK', () => {
  it('gets text, as JSON and as a stream, with true usage', async () => {
    const client = await withAnthropic([{ text: 'hello 🙂' }, { text: 'hello again' }]);
    const params = { model: 'm', max_tokens: 64, messages: [{ role: 'user' as const, content: 'hi' }] };
    const message = await client.messages.create(params);
    expect(message.content).toEqual([{ type: 'text', text: 'hello 🙂' }]);
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage.input_tokens).toBe(world.engine.calls[0]!.inputIds.length);
    expect(message.usage.output_tokens).toBe(world.calls()[0]!.sampledTokenIds.length);
    const streamed = await client.messages.stream({ ...params, system: 'other' }).finalMessage();
    expect(streamed.content).toEqual([{ type: 'text', text: 'hello again' }]);
    expect(streamed.usage.input_tokens).toBe(world.engine.calls[1]!.inputIds.length);
    expectExactInputs();
  });

  it('goes through tool rounds, streaming, in one lineage', async () => {
    const client = await withAnthropic([
      { text: `looking\n${readCall}` },
      { text: `${readCall}\n${call('read_file', { path: 'b' })}` },
      { text: 'done' },
    ]);
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'read it' }];
    const base = { model: 'm', max_tokens: 200, tools: [tool], system: 'You work.' };
    for (let round = 0; round < 3; round += 1) {
      const reply = await client.messages.stream({ ...base, messages }).finalMessage();
      messages.push({ role: 'assistant', content: reply.content });
      const uses = reply.content.filter((block) => block.type === 'tool_use');
      if (uses.length === 0) break;
      expect(uses[0]!.input).toEqual({ path: 'kelo.txt' });
      expect(reply.stop_reason).toBe('tool_use');
      messages.push({
        role: 'user',
        content: uses.map((use) => ({
          type: 'tool_result' as const,
          tool_use_id: use.id,
          content: 'code: dako',
        })),
      });
    }
    const calls = world.calls();
    expect(calls.map((event) => event.response!.toolCalls.length)).toEqual([1, 2, 0]);
    expect(calls.map((event) => event.parentCallId)).toEqual([null, calls[0]!.callId, calls[1]!.callId]);
    expect(calls[0]!.context!.toolNames).toEqual(['read_file']);
    expect(calls[2]!.newMessages.map((message) => message.role)).toEqual(['tool', 'tool']);
    expectExactInputs();
    const last = tinyModel.decode(world.engine.calls[2]!.inputIds);
    expect(last.split('<|im_start|>user').length).toBe(4);
  });

  it('counts tokens exactly and retries what failed before the start', async () => {
    const client = await withAnthropic([{ status: 503 }, { text: 'ok' }]);
    const params = { model: 'm', messages: [{ role: 'user' as const, content: 'count' }], tools: [tool] };
    const counted = await client.messages.countTokens(params);
    const message = await client.messages.create({ ...params, max_tokens: 10 });
    expect(message.usage.input_tokens).toBe(counted.input_tokens);
    expect(world.failures().map((event) => event.reason)).toEqual(['engine']);
    expect(world.calls().map((event) => event.seq)).toEqual([1]);
  });

  it('stops at stop sequences and at the limit, and keeps every id', async () => {
    const client = await withAnthropic([{ text: 'one STOP two' }, { text: 'a long reply' }]);
    const ask = (extra: object) =>
      client.messages.create({
        model: 'm',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'x' }],
        ...extra,
      });
    const stopped = await ask({ stop_sequences: ['STOP'] });
    expect([stopped.stop_reason, stopped.stop_sequence]).toEqual(['stop_sequence', 'STOP']);
    expect(stopped.content).toEqual([{ type: 'text', text: 'one ' }]);
    expect(tinyModel.decode(world.calls()[0]!.sampledTokenIds)).toContain('STOP');
    const cut = await ask({ max_tokens: 3 });
    expect(cut.stop_reason).toBe('max_tokens');
    expect(world.calls()[1]!.finishReason).toBe('length');
  });

  it('shows errors in its own shape', async () => {
    const client = await withAnthropic([]);
    const bad = client.messages.create({
      model: 'm',
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'search_result' } as never] }],
    });
    await expect(bad).rejects.toThrow(/messages\.0\.content\.0: blocks of type search_result/u);
    await expect(bad).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    const stranger = new Anthropic({ baseURL: world.proxy.modelUrl, apiKey: 'nobody' });
    const refused = stranger.messages.create({
      model: 'm',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'x' }],
    });
    await expect(refused).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    const models = await client.models.list();
    expect(models.data.map((model) => model.id)).toEqual(['policy']);
  });
});

describe('OpenAI SDK', () => {
  it('gets text, as JSON and as a stream, with usage', async () => {
    const client = await withOpenAI([{ text: '<think>\nhm\n</think>\n\nhello' }, { text: 'again' }]);
    const params = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
    const completion = await client.chat.completions.create(params);
    expect(completion.choices[0]!.message).toMatchObject({ content: 'hello', reasoning_content: 'hm' });
    expect(completion.usage!.prompt_tokens).toBe(world.engine.calls[0]!.inputIds.length);
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    const stream = await client.chat.completions.create({
      ...params,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe('again');
    expect(usage!.completion_tokens).toBe(world.calls()[1]!.sampledTokenIds.length);
  });

  it('goes through parallel tool calls in one lineage', async () => {
    const client = await withOpenAI([
      { text: `${readCall}\n${call('read_file', { path: 'b' })}` },
      { text: 'done' },
    ]);
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'You work.' },
      { role: 'user', content: 'read it' },
    ];
    const stream = client.chat.completions.stream({ model: 'm', messages, tools: [chatTool] });
    const reply = (await stream.finalChatCompletion()).choices[0]!;
    expect(reply.finish_reason).toBe('tool_calls');
    messages.push({ role: 'assistant', content: null, tool_calls: reply.message.tool_calls! });
    for (const toolCall of reply.message.tool_calls!) {
      messages.push({ role: 'tool', tool_call_id: toolCall.id, content: 'x' });
    }
    const last = await client.chat.completions.create({ model: 'm', messages, tools: [chatTool] });
    expect(last.choices[0]!.message.content).toBe('done');
    const calls = world.calls();
    expect(calls[1]!.parentCallId).toBe(calls[0]!.callId);
    expect(calls[1]!.attribution).toEqual([{ callId: calls[0]!.callId, by: 'toolCallId' }]);
    expectExactInputs();
  });

  it('refuses n > 1, unknown parts and foreign keys in its own shape', async () => {
    const client = await withOpenAI([]);
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'x' }];
    await expect(client.chat.completions.create({ model: 'm', n: 2, messages })).rejects.toThrow(
      /n must be 1/u,
    );
    const stranger = new OpenAI({ baseURL: `${world.proxy.modelUrl}/v1`, apiKey: 'nobody' });
    await expect(stranger.chat.completions.create({ model: 'm', messages })).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    expect((await client.models.list()).data[0]!.id).toBe('policy');
  });

  it('reports a prompt that does not fit as a context-length error', async () => {
    world = await proxyWorld([], { maxContext: 20 });
    const client = new OpenAI({ baseURL: `${world.proxy.modelUrl}/r/${world.token}/v1`, apiKey: 'unused' });
    const long = client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'many words '.repeat(20) }],
    });
    await expect(long).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });
});

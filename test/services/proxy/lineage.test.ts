import { describe, expect, it } from 'vitest';
import { anthropic } from '../../../services/proxy/dialects/anthropic.ts';
import { chatCompletions } from '../../../services/proxy/dialects/chatCompletions.ts';
import { lineageWorld } from '../../support/lineageWorld.ts';
import { tinyModel } from '../../support/proxyWorld.ts';

type Turn = { role: string; content?: unknown; tool_calls?: unknown; tool_call_id?: string };

const toolReply = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const chat = (messages: readonly Turn[], tools = [tool('f')]) => ({ model: 'm', tools, messages });
const system: Turn = { role: 'system', content: 'You work.' };
const user = (content: string): Turn => ({ role: 'user', content });
const messageOf = (wire: unknown): Turn => (wire as { choices: { message: Turn }[] }).choices[0]!.message;
const resultOf = (message: Turn, at = 0): Turn => ({
  role: 'tool',
  tool_call_id: (message.tool_calls as { id: string }[])[at]!.id,
  content: 'result',
});
const includes = (ids: ArrayLike<number>, part: ArrayLike<number>): boolean =>
  `,${Array.from(ids).join(',')},`.includes(`,${Array.from(part).join(',')},`);

describe('a history that really changed', () => {
  it('opens a root with a reason, and known replies keep their sampled ids', () => {
    const world = lineageWorld(chatCompletions);
    const first = world.call(chat([system, user('do it')]), `well ${toolReply}`);
    const message = messageOf(first.wire);
    const edited = chat([system, user('do it, please'), message, resultOf(message)]);
    const { plan } = world.call(edited, 'done');
    expect(plan).toMatchObject({ parentCallId: null, forkReason: 'history' });
    expect(plan.attribution).toEqual([{ callId: first.event.callId, by: 'toolCallId' }]);
    expect(includes(plan.inputIds, first.event.sampledTokenIds)).toBe(true);
    expect(plan.context?.system).toBe('You work.');
    expect(plan.newMessages.map((entry) => entry.role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('goes on from the new root', () => {
    const world = lineageWorld(chatCompletions);
    const first = messageOf(world.call(chat([system, user('do it')]), toolReply).wire);
    const edited = [system, user('other'), first, resultOf(first)];
    const second = world.call(chat(edited), 'a longer text reply');
    const third = world.call(chat([...edited, messageOf(second.wire), user('go on')]), 'done');
    expect(third.plan).toMatchObject({ parentCallId: second.event.callId, forkReason: null });
  });

  it('is another thread when system text or tools change', () => {
    const world = lineageWorld(chatCompletions);
    const first = messageOf(world.call(chat([system, user('do it')]), toolReply).wire);
    const messages = [system, user('do it'), first, resultOf(first)];
    const more = world.call(chat(messages, [tool('e'), tool('f')]), 'x');
    expect(more.plan).toMatchObject({ parentCallId: null, forkReason: 'context' });
    expect(more.plan.context?.toolNames).toEqual(['e', 'f']);
    const helper = world.call(chat([{ role: 'system', content: 'You help.' }, user('do it')]), 'x');
    expect(helper.plan.forkReason).toBe('context');
    expect(helper.plan.contextDigest).not.toBe(more.plan.contextDigest);
  });

  it('branches where an earlier turn is taken up again', () => {
    const world = lineageWorld(chatCompletions);
    const first = world.call(chat([system, user('do it')]), toolReply);
    const message = messageOf(first.wire);
    const base = [system, user('do it'), message, resultOf(message)];
    const second = world.call(chat(base), 'one way');
    const other = world.call(chat([...base, user('changed my mind')]), 'other way');
    expect(second.plan.parentCallId).toBe(first.event.callId);
    expect(other.plan.parentCallId).toBe(first.event.callId);
    const restarted = world.call(chat([system, user('do it')]), toolReply);
    expect(restarted.plan).toMatchObject({ parentCallId: null, forkReason: 'start' });
  });
});

describe('attribution', () => {
  it('needs all calls of a turn, in order; a subset or a merge is context', () => {
    const world = lineageWorld(chatCompletions);
    const pair = messageOf(world.call(chat([system, user('u')]), `${toolReply}\n${toolReply}`).wire);
    const [one, two] = pair.tool_calls as [object, object];
    for (const calls of [[one], [two, one]]) {
      const partial = { ...pair, tool_calls: calls };
      const results = calls.map((_, at) => resultOf(partial, at));
      const { plan } = world.call(chat([system, user('u'), partial, ...results]), 'x');
      expect(plan.parentCallId).toBe(null);
      expect(plan.attribution).toEqual([{ callId: null, by: 'none' }]);
    }
  });

  it('takes the same words at their own place, and the reply the harness went on from', () => {
    const world = lineageWorld(chatCompletions);
    const start = [system, user('u')];
    const first = world.call(chat(start), 'same');
    const second = world.call(chat(start), 'same');
    const on = world.call(chat([...start, messageOf(first.wire), user('more')]), 'x');
    expect(on.plan.parentCallId).toBe(second.event.callId);
    const third = world.call(chat(start), 'same');
    expect(third.plan.parentCallId).toBe(null);
    const again = world.call(
      chat([...start, messageOf(first.wire), user('more'), messageOf(on.wire), user('last')]),
      'y',
    );
    expect(again.plan.parentCallId).toBe(on.event.callId);
  });

  it('knows a turn that comes back as several messages', () => {
    const world = lineageWorld(chatCompletions);
    const first = world.call(chat([system, user('u')]), `both ${toolReply}\n${toolReply}`);
    const message = messageOf(first.wire);
    const parts: Turn[] = [
      { role: 'assistant', content: 'both' },
      ...(message.tool_calls as object[]).map((call) => ({
        role: 'assistant',
        content: null,
        tool_calls: [call],
      })),
    ];
    const results = [resultOf(message, 0), resultOf(message, 1)];
    const { plan } = world.call(chat([system, user('u'), ...parts, ...results]), 'x');
    expect(plan.parentCallId).toBe(first.event.callId);
  });

  it('renders what it does not know, and says so', () => {
    const world = lineageWorld(chatCompletions);
    const foreign = [system, user('u'), { role: 'assistant', content: 'not ours' }, user('v')];
    const { plan } = world.call(chat(foreign), 'x');
    expect(plan.attribution).toEqual([{ callId: null, by: 'none' }]);
    expect(tinyModel.decode(plan.inputIds)).toContain('<|im_start|>assistant\nnot ours<|im_end|>\n');
  });
});

describe('what comes and goes', () => {
  it('keeps a passing note at the end in the history the policy saw', () => {
    const world = lineageWorld(chatCompletions);
    const note = user('<<internal context>>');
    const messages: Turn[] = [system, user('do it')];
    let previous: string | null = null;
    for (let round = 0; round < 4; round += 1) {
      const { plan, event, wire } = world.call(chat([...messages, note]), toolReply);
      expect(plan.parentCallId).toBe(previous);
      previous = event.callId;
      const message = messageOf(wire);
      messages.push(message, resultOf(message));
    }
  });

  it('takes system messages in place', () => {
    const world = lineageWorld(anthropic);
    const body = (messages: readonly Turn[]) => ({ max_tokens: 9, system: 's', messages });
    const first = world.call(
      body([user('u'), { role: 'system', content: [{ type: 'text', text: 'note' }] }]),
      'one',
    );
    const text = tinyModel.decode(first.plan.inputIds);
    expect(text.indexOf('note')).toBeGreaterThan(text.indexOf('user\nu'));
    const second = world.call(
      body([
        user('u'),
        { role: 'system', content: 'note' },
        { role: 'assistant', content: 'one' },
        user('v'),
      ]),
      'two',
    );
    expect(second.plan.parentCallId).toBe(first.event.callId);
  });

  it('continues a prefilled turn, and knows it again with its beginning', () => {
    const world = lineageWorld(anthropic);
    const body = (messages: readonly Turn[]) => ({ max_tokens: 9, messages });
    const first = world.call(body([user('u'), { role: 'assistant', content: 'The answer is' }]), ' four');
    expect(tinyModel.decode(first.plan.inputIds)).toMatch(/assistant\nThe answer is$/u);
    const second = world.call(
      body([user('u'), { role: 'assistant', content: 'The answer is four' }, user('why')]),
      'so',
    );
    expect(second.plan.parentCallId).toBe(first.event.callId);
    const text = tinyModel.decode(second.plan.inputIds);
    expect(text).toContain('The answer is four<|im_end|>\n<|im_start|>user\nwhy');
  });

  it('closes a turn that the limit cut', () => {
    const world = lineageWorld(anthropic);
    const body = (messages: readonly Turn[]) => ({ max_tokens: 9, messages });
    const cut = world.call(body([user('u')]), 'half a sen', false);
    const next = world.call(
      body([user('u'), { role: 'assistant', content: 'half a sen' }, user('go on')]),
      'x',
    );
    expect(next.plan.parentCallId).toBe(cut.event.callId);
    expect(tinyModel.decode(next.plan.envTokenIds)).toMatch(/^<\|im_end\|>\n<\|im_start\|>user\ngo on/u);
  });

  it('keeps reasoning in the history and counts what the template would have dropped', () => {
    const world = lineageWorld(anthropic);
    const body = (messages: readonly Turn[]) => ({ max_tokens: 9, messages });
    const first = world.call(body([user('u')]), '<think>\ndeep thought\n</think>\n\nshown');
    const content = [{ type: 'text', text: 'shown' }];
    const next = world.call(body([user('u'), { role: 'assistant', content }, user('v')]), 'x');
    expect(next.plan.parentCallId).toBe(first.event.callId);
    expect(tinyModel.decode(next.plan.inputIds)).toContain('deep thought');
    expect(next.plan.templateDivergence).toBeGreaterThan(5);
  });

  it('tells of forced tools and schemas in the prompt only, and goes on without them', () => {
    const world = lineageWorld(chatCompletions);
    const forced = {
      ...chat([system, user('u')]),
      tool_choice: { type: 'function', function: { name: 'f' } },
    };
    const first = world.call(forced, toolReply);
    expect(tinyModel.decode(first.plan.inputIds)).toContain('Reply with a call of the tool f.');
    expect(first.event.newMessages.map((message) => message.content)).toEqual(['u']);
    const message = messageOf(first.wire);
    const next = world.call(chat([system, user('u'), message, resultOf(message)]), 'x');
    expect(next.plan.parentCallId).toBe(first.event.callId);
  });
});

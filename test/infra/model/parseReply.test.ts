import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHermesCalls } from '../../../infra/model/parse/hermesCalls.ts';
import { parseReply } from '../../../infra/model/parse/parseReply.ts';

const block = (body: string): string => `<tool_call>\n${body}\n</tool_call>`;
const good = block('{"name": "f", "arguments": {"a": 1.0, "b": "}\\"{"}}');

describe('Hermes tool calls', () => {
  it('keeps order, equal calls and the arguments as written', () => {
    const { text, calls } = readHermesCalls(`first ${good}\n${good}\n${block('{"name":"g"}')}`, true);
    expect(text).toBe('first');
    const written = { name: 'f', arguments: '{"a": 1.0, "b": "}\\"{"}' };
    expect(calls).toEqual([written, written, { name: 'g', arguments: '{}' }]);
  });

  it('takes arguments given as JSON text, or named parameters', () => {
    expect(readHermesCalls(block('{"name":"f","arguments":"{\\"a\\":1}"}'), true).calls[0]!.arguments).toBe(
      '{"a":1}',
    );
    expect(readHermesCalls(block('{"name":"f","parameters":{"a":2}}'), true).calls[0]!.arguments).toBe(
      '{"a":2}',
    );
  });

  it.each([
    ['no JSON', block('{"name": "f", "arguments": {')],
    ['no object', block('[1]')],
    ['no name', block('{"arguments": {}}')],
    ['arguments that are no object', block('{"name": "f", "arguments": 3}')],
    ['a text that is no object', block('{"name": "f", "arguments": "x"}')],
    ['nothing', '<tool_call></tool_call>'],
  ])('leaves a call with %s in the text', (_name, reply) => {
    expect(readHermesCalls(`a ${reply} b`, true)).toEqual({ text: `a ${reply} b`, calls: [] });
  });

  it('finds a good call beside a broken one', () => {
    const { text, calls } = readHermesCalls(`<tool_call>{"name ${good}`, true);
    expect(calls.map((call) => call.name)).toEqual(['f']);
    expect(text).toBe('<tool_call>{"name');
  });

  it('takes a last call without its closing tag only from a finished turn', () => {
    const open = good.replace('</tool_call>', '');
    expect(readHermesCalls(open, true).calls).toHaveLength(1);
    expect(readHermesCalls(open, false)).toEqual({ text: open, calls: [] });
  });

  it('is total and gives only what it can stand for', () => {
    const bits = fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '{"name": "f"',
      ', "arguments": ',
      '{}',
      '}',
      '"',
      'x',
    );
    fc.assert(
      fc.property(fc.array(bits), fc.boolean(), (parts, finished) => {
        const { calls } = readHermesCalls(parts.join(''), finished);
        for (const call of calls) expect(typeof JSON.parse(call.arguments)).toBe('object');
      }),
    );
  });
});

describe('a reply', () => {
  it('is cut into reasoning, text and calls', () => {
    expect(parseReply(`<think>\nhm\n</think>\n\nok\n${good}`, false, true, [])).toMatchObject({
      reasoning: 'hm',
      content: 'ok',
      stopString: null,
    });
  });

  it('begins inside the reasoning where the prompt opened it', () => {
    expect(parseReply('hm</think>ok', true, true, [])).toMatchObject({ reasoning: 'hm', content: 'ok' });
    expect(parseReply('hm', true, true, [])).toMatchObject({ reasoning: 'hm', content: '' });
    expect(parseReply('plain </think>', false, true, [])).toMatchObject({ reasoning: null });
  });

  it('ends before the earliest stop string outside the reasoning', () => {
    const reply = parseReply('<think>END</think>one STOP two END', false, true, ['END', 'STOP', '']);
    expect([reply.content, reply.stopString]).toEqual(['one ', 'STOP']);
  });
});

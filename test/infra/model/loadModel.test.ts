import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { loadModel } from '../../../infra/model/loadModel.ts';
import { assistantMessage, textMessage, toolMessage } from '../../../schemas/canonical.ts';
import { tinyModel as model } from '../../support/proxyWorld.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const pieces = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('<|im_end|>', '<|im_start|>', '<|endoftext|>', '\u{FDD0}', '🙂', '\n'),
  ),
);

describe('a model directory', () => {
  it('encodes special tokens only where it is asked to', () => {
    expect([...model.encode('<|im_end|>', { special: true })]).toEqual([model.eosTokenId]);
    expect(model.encode('<|im_end|>')).not.toContain(model.eosTokenId);
    expect(model.decode(model.encode('<|im_end|>'))).toBe('<|im_end|>');
  });

  it('never lets a text from outside become a special token', () => {
    const plain = model.renderRoot([textMessage('system', 's'), textMessage('user', 'u')], []);
    const count = (ids: Int32Array): number => ids.filter((id) => id === model.eosTokenId).length;
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = wellFormed(parts.join(''));
        const ids = model.renderRoot(
          [textMessage('system', `s${text}`), textMessage('user', `u${text}`)],
          [],
        );
        expect(count(ids)).toBe(count(plain));
        expect(model.decode(ids)).toContain(`u${text}`.replaceAll('\u{FDD0}', '\u{FFFD}'));
      }),
      { numRuns: 100 },
    );
  });

  it('decodes characters cut over several tokens', () => {
    const ids = model.encode('é🙂漢');
    expect(ids.length).toBeGreaterThan(3);
    expect(model.decode(ids)).toBe('é🙂漢');
    expect(model.decode(ids.subarray(0, 1))).toBe('\u{FFFD}');
    expect(model.decode([])).toBe('');
  });

  it('follows a reply with what is left of its close, the new messages as one run, and the prompt', () => {
    const text = 'on it\n<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>';
    const closed = model.encode(`${text}<|im_end|>`, { special: true });
    const calls = [
      { id: 'c1', name: 'a', arguments: '{}' },
      { id: 'c2', name: 'a', arguments: '{}' },
    ];
    const response = assistantMessage('on it', calls);
    const run = [toolMessage('c1', 'one'), toolMessage('c2', 'two')];
    const rendered = (sampledTokenIds: Int32Array): string =>
      model.decode(model.renderTurn({ response, sampledTokenIds }, run));
    const rest =
      '\n<|im_start|>user\n<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>' +
      '<|im_end|>\n<|im_start|>assistant\n';
    expect(rendered(closed)).toBe(rest);
    expect(rendered(closed.subarray(0, -1))).toBe(`<|im_end|>${rest}`);
    const other = Int32Array.from([
      ...closed.subarray(0, -1),
      ...model.encode('<|endoftext|>', { special: true }),
    ]);
    expect(rendered(other)).toBe(`<|im_end|>${rest}`);
    expect(model.decode(model.closeTurn(closed))).toBe('\n');
    expect(model.decode(model.closeTurn(closed.subarray(0, 3)))).toBe('<|im_end|>\n');
  });

  it('builds, turn by turn, the very ids of the full rendering when the policy writes as the template does', () => {
    const tools = [{ name: 'a', description: 'd', parameters: { type: 'object' } }];
    const root = [textMessage('system', 's'), textMessage('user', 'u')];
    const reply = assistantMessage('Well', [{ id: 'c1', name: 'a', arguments: '{"x":1}' }]);
    const sampled = model.encode(
      'Well\n<tool_call>\n{"name": "a", "arguments": {"x": 1}}\n</tool_call><|im_end|>',
      { special: true },
    );
    const run = [toolMessage('c1', 'result'), textMessage('user', 'go on')];
    const grafted = [
      ...model.renderRoot(root, tools),
      ...sampled,
      ...model.renderTurn({ response: reply, sampledTokenIds: sampled }, run),
    ];
    const full = model.renderRoot([...root, reply, ...run], tools);
    expect(model.decode(grafted)).toBe(model.decode(full));
    expect(grafted).toEqual([...full]);
  });

  it('refuses a folder without a model and a template that cannot be grafted', () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-model-'));
    folders.push(folder);
    expect(() => loadModel(folder)).toThrow(expect.objectContaining({ code: 'E_MODEL_DIR' }));
    writeFileSync(join(folder, 'tokenizer.json'), tokenizerJson());
    const template = "{% for m in messages %}{{ m.role + ': ' + m.content }}{% endfor %}";
    const write = (chat: string): void =>
      writeFileSync(
        join(folder, 'tokenizer_config.json'),
        JSON.stringify({ tokenizer_class: 'PreTrainedTokenizerFast', chat_template: chat }),
      );
    write(template);
    expect(() => loadModel(folder)).toThrow(expect.objectContaining({ code: 'E_TEMPLATE' }));
    write("{{ raise_exception('roles must alternate') }}");
    expect(() => loadModel(folder)).toThrow(/roles must alternate/u);
    write('{% for %}');
    expect(() => loadModel(folder)).toThrow(expect.objectContaining({ code: 'E_TEMPLATE' }));
  });
});

function tokenizerJson(): string {
  return JSON.stringify({
    version: '1.0',
    added_tokens: [
      { id: 1, content: '<|end|>', special: true, normalized: false, lstrip: false, rstrip: false },
    ],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: 'BPE',
      vocab: { a: 0 },
      merges: [],
      unk_token: null,
      byte_fallback: false,
      fuse_unk: false,
    },
  });
}

// What JSON text can carry: halves of surrogate pairs become the replacement character.
function wellFormed(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}

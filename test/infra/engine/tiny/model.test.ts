import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TinyChat } from '../../../../infra/engine/tiny/tinyChat.ts';
import { modelFiles } from '../../../../infra/engine/tiny/vocabulary/modelFiles.ts';
import { decodeIds, loadVocabulary, TINY_MODEL_DIR } from '../../../../infra/engine/tiny/vocabulary.ts';

const vocabulary = loadVocabulary();
const chat = new TinyChat();
const tool = {
  type: 'function' as const,
  function: {
    name: 'read_file',
    description: 'Read a file.',
    parameters: { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] },
  },
};

describe('the tiny model directory', () => {
  it('is what its build script makes', () => {
    for (const [name, text] of Object.entries(modelFiles())) {
      expect(readFileSync(new URL(name, TINY_MODEL_DIR), 'utf8')).toBe(text);
    }
  }, 30_000);

  it('encodes any text and gets it back byte for byte', () => {
    for (const text of [
      'kelo.txt',
      '{"a": "b\\n"}',
      'žluťoučký 🐎\n\t  x',
      '<tool_call>\n{"name": "shell"}',
    ]) {
      expect(decodeIds(vocabulary, chat.encode(text))).toBe(text);
    }
  });

  it('writes conversations in ChatML with tool calls and grouped tool results', () => {
    const ids = chat.prompt(
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Go.' },
        { role: 'tool', content: 'one' },
        { role: 'tool', content: 'two' },
      ],
      [tool],
    );
    const text = decodeIds(vocabulary, ids);
    expect(text).toContain('\n<tools>\n{"type": "function", "function": {"name": "read_file", ');
    expect(text).toContain('user\nGo.\nuser\n<tool_response>\none\n</tool_response>\n<tool_response>\ntwo');
    expect(text.endsWith('</tool_response>\nassistant\n')).toBe(true);
    expect(ids.filter((id) => id === vocabulary.turnStart)).toHaveLength(4);
  });

  it('can write one text in several ways', () => {
    const canonical = chat.encode('<tool_call>');
    const other = [...Buffer.from('<tool_call>')];
    expect(canonical).not.toEqual(other);
    expect(decodeIds(vocabulary, canonical)).toBe(decodeIds(vocabulary, other));
  });

  it('has no token for anything of an answer', () => {
    const tokens = vocabulary.bytes.map((bytes) => Buffer.from(bytes).toString('utf8'));
    for (const word of ['code', 'note', 'list', 'answer', 'Read']) {
      expect(tokens.filter((token) => token.includes(word))).toEqual([]);
    }
  });
});

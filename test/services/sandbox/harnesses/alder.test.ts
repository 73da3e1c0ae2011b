import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { anthropicStream } from '../../../support/anthropicStream.ts';
import { makeFolder, runHarness } from '../../../support/runHarness.ts';
import {
  type ScriptedModelServer,
  type ScriptedReply,
  serveScript,
} from '../../../support/scriptedModelServer.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function play(
  script: readonly ScriptedReply[],
  options: { files?: Record<string, string>; args?: string[] } = {},
) {
  const folder = makeFolder(options.files);
  const server: ScriptedModelServer = await serveScript(anthropicStream, script);
  cleanups.push(folder.remove, server.close);
  const run = await runHarness('alder.js', ['-p', 'Do the task.', ...(options.args ?? [])], folder.path, {
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_AUTH_TOKEN: 'secret',
  });
  return { run, folder: folder.path, requests: server.requests };
}

const use = (name: string, input: unknown, id = 'toolu1') => ({ id, name, input });
const mark = { type: 'ephemeral' };

describe('alder', () => {
  it('loops over tools and prints the final text', async () => {
    const { run, folder, requests } = await play(
      [
        { text: 'reading', toolCalls: [use('read_file', { path: 'a.txt' })] },
        {
          toolCalls: [
            use('write_file', { path: 'sub/b.txt', content: 'é' }),
            use('shell', { command: 'cat a.txt; exit 3' }, 't2'),
          ],
        },
        { text: 'done' },
      ],
      { files: { 'a.txt': 'hello' } },
    );
    expect(run).toEqual({ exitCode: 0, stdout: 'done', stderr: '' });
    expect(readFileSync(join(folder, 'sub/b.txt'), 'utf8')).toBe('é');
    expect(requests.map((request) => request.path)).toEqual(Array(3).fill('/r/token/v1/messages'));
    expect(requests[0]?.headers.authorization).toBe('Bearer secret');
    const results = requests[2]?.body.messages.at(-1).content;
    expect(results[0].content).toBe('wrote sub/b.txt');
    expect(results[1].content).toBe('hello\n[exit 3]');
    expect(Buffer.byteLength(requests[0]?.body.system[0].text)).toBeLessThan(300);
  });

  it('moves the cache marker and sends the input back as its own JSON', async () => {
    const rawInput = '{ "path":"a.txt",\n "extra": 1.0 }';
    const { requests } = await play(
      [{ toolCalls: [{ id: 't1', name: 'read_file', rawInput }] }, { text: 'done' }],
      { files: { 'a.txt': 'x' } },
    );
    expect(requests[0]?.body.messages[0].content[0].cache_control).toEqual(mark);
    const [first, assistant, last] = requests[1]?.body.messages ?? [];
    expect(first.content[0]).not.toHaveProperty('cache_control');
    expect(last.content[0].cache_control).toEqual(mark);
    expect(assistant.content).toEqual([
      { type: 'tool_use', id: 't1', name: 'read_file', input: { path: 'a.txt', extra: 1 } },
    ]);
    expect(requests[1]?.text).toContain('{"path":"a.txt","extra":1}');
  });

  it('asks again with the same bytes after a malformed call, then ends', async () => {
    const bad = { text: '<tool_call>{"name": "read' };
    const { run, requests } = await play([bad, { text: 'fine' }]);
    expect(run.stdout).toBe('fine');
    expect(requests[1]?.text).toBe(requests[0]?.text);
    const ended = await play([bad, bad, bad]);
    expect(ended.requests).toHaveLength(3);
    expect(ended.run).toMatchObject({ exitCode: 0, stdout: bad.text });
  });

  it('reports a tool error after the third bad call in a row', async () => {
    const bad = { toolCalls: [use('fly', {})] };
    const wrong = { toolCalls: [use('read_file', { path: 7 })] };
    const { requests, run } = await play([bad, wrong, bad, { text: 'ok' }]);
    expect(run.stdout).toBe('ok');
    expect(requests[2]?.text).toBe(requests[0]?.text);
    const [result] = requests[3]?.body.messages.at(-1).content ?? [];
    expect(result).toMatchObject({ is_error: true, content: expect.stringContaining('unknown tool "fly"') });
  });

  it('runs a helper as its own thread', async () => {
    const { requests } = await play(
      [
        { toolCalls: [use('delegate', { prompt: 'What is in a.txt?' })] },
        { toolCalls: [use('read_file', { path: 'a.txt' }, 'h1')] },
        { text: 'It says hello.' },
        { text: 'done' },
      ],
      { files: { 'a.txt': 'hello' } },
    );
    expect(requests[1]?.body.messages[0].content[0].text).toBe('What is in a.txt?');
    expect(requests[1]?.body.tools.map((tool: { name: string }) => tool.name)).toEqual(['read_file']);
    expect(requests[1]?.body.system[0].text).not.toBe(requests[0]?.body.system[0].text);
    expect(requests[3]?.body.messages.at(-1).content[0].content).toBe('It says hello.');
  });

  it('stops a helper after two turns', async () => {
    const read = { toolCalls: [use('read_file', { path: 'a.txt' })] };
    const { requests } = await play([
      { toolCalls: [use('delegate', { prompt: 'look' })] },
      read,
      read,
      { text: 'done' },
    ]);
    expect(requests[3]?.body.messages.at(-1).content[0].content).toBe('max turns');
  });

  it('compacts when the context is over its limit', async () => {
    const { requests } = await play(
      [
        { toolCalls: [use('read_file', { path: 'a.txt' })], inputTokens: 101 },
        { text: 'I read a.txt.' },
        { text: 'done' },
      ],
      { files: { 'a.txt': 'x' }, args: ['--context-limit', '100'] },
    );
    expect(requests[1]?.body.messages).toHaveLength(4);
    expect(requests[1]?.body.messages[3].content[0].text).toContain('Summarise');
    expect(requests[2]?.body.messages).toHaveLength(1);
    expect(requests[2]?.body.messages[0].content[0].text).toBe(
      'Do the task.\n\nSummary of the work so far:\nI read a.txt.',
    );
  });

  it('stops at --max-turns with exit code 0', async () => {
    const read = { toolCalls: [use('read_file', { path: 'none' })] };
    const { run, requests } = await play([read, read], { args: ['--max-turns', '2'] });
    expect(run).toMatchObject({ exitCode: 0, stdout: 'max turns' });
    expect(requests).toHaveLength(2);
  });

  it('repeats the same bytes after 429, 5xx, a reset, an error event and a missing terminal event', async () => {
    const { run, requests } = await play([
      { fault: 'reset' },
      { text: 'lost', fault: 'noTerminal' },
      { fault: 'errorEvent' },
      { status: 429, headers: { 'retry-after': '0' } },
      { status: 529, headers: { 'retry-after': '0' } },
      { text: 'done' },
    ]);
    expect(run.stdout).toBe('done');
    expect(new Set(requests.map((request) => request.text)).size).toBe(1);
    expect(requests).toHaveLength(6);
  });

  it('gives up after eight tries, and at once on 400', async () => {
    const busy = await play(Array(9).fill({ status: 503, headers: { 'retry-after': '0' } }));
    expect(busy.run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('HTTP 503') });
    expect(busy.requests).toHaveLength(8);
    const refused = await play([{ status: 400 }]);
    expect(refused.run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('HTTP 400') });
    expect(refused.requests).toHaveLength(1);
  });

  it('keeps file tools inside the working directory', async () => {
    const outside = makeFolder({ 'secret.txt': 'secret' });
    const folder = makeFolder();
    cleanups.push(outside.remove, folder.remove);
    symlinkSync(outside.path, join(folder.path, 'link'));
    const server = await serveScript(anthropicStream, [
      {
        toolCalls: [
          use('read_file', { path: '/etc/passwd' }, 't1'),
          use('read_file', { path: 'link/secret.txt' }, 't2'),
          use('write_file', { path: '../x', content: '' }, 't3'),
          use('write_file', { path: 'link/new/x', content: '' }, 't4'),
          use('read_file', { path: 'none' }, 't5'),
        ],
      },
      { text: 'done' },
    ]);
    cleanups.push(server.close);
    const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_AUTH_TOKEN: 'k' };
    await runHarness('alder.js', ['-p', 'x'], folder.path, env);
    const texts = server.requests[1]?.body.messages.at(-1).content.map((r: { content: string }) => r.content);
    expect(texts.slice(0, 4)).toEqual(Array(4).fill(expect.stringContaining('outside the workspace')));
    expect(texts[4]).toBe('Error: no such file: none');
    expect(existsSync(join(outside.path, 'new'))).toBe(false);
  });

  it('exits 2 on bad usage', async () => {
    const folder = makeFolder();
    cleanups.push(folder.remove);
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_AUTH_TOKEN: 'k' };
    for (const args of [[], ['-p'], ['-p', 'x', '--max-turns', '0'], ['-p', 'x', '--what', '1']]) {
      expect((await runHarness('alder.js', args, folder.path, env)).exitCode).toBe(2);
    }
    expect((await runHarness('alder.js', ['-p', 'x'], folder.path, {})).exitCode).toBe(2);
  });
});

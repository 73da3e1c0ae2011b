import { afterEach, describe, expect, it } from 'vitest';
import { chatCompletionsStream } from '../../../support/chatCompletionsStream.ts';
import { makeFolder, runHarness } from '../../../support/runHarness.ts';
import { type ScriptedReply, serveScript } from '../../../support/scriptedModelServer.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function play(
  script: readonly ScriptedReply[],
  options: { files?: Record<string, string>; args?: string[]; title?: boolean } = {},
) {
  const folder = makeFolder(options.files);
  const server = await serveScript(chatCompletionsStream, script);
  cleanups.push(folder.remove, server.close);
  const run = await runHarness('birch.js', ['-p', 'Do the task.', ...(options.args ?? [])], folder.path, {
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: 'secret',
    ...(options.title ? {} : { BIRCH_TITLE: '0' }),
  });
  return { run, requests: server.requests };
}

const use = (name: string, input: unknown, id = 'call1') => ({ id, name, input });

describe('birch', () => {
  it('asks for a title first, without tools, then loops over tools', async () => {
    const { run, requests } = await play(
      [{ text: 'A title' }, { toolCalls: [use('read_file', { path: 'a.txt' })] }, { text: 'done' }],
      { files: { 'a.txt': 'hello' }, title: true },
    );
    expect(run).toEqual({ exitCode: 0, stdout: 'done', stderr: '' });
    expect(requests.map((request) => request.path)).toEqual(Array(3).fill('/r/token/v1/chat/completions'));
    expect(requests[0]?.headers.authorization).toBe('Bearer secret');
    expect(requests[0]?.body).not.toHaveProperty('tools');
    expect(requests[0]?.body.messages[1]).toEqual({ role: 'user', content: 'Do the task.' });
    expect(requests[1]?.body.messages[0].content).not.toBe(requests[0]?.body.messages[0].content);
    expect(requests[2]?.body.messages.at(-1)).toEqual({
      role: 'tool',
      tool_call_id: 'call1',
      content: 'hello',
    });
  });

  it('sends arguments back as its own JSON and empty content as null', async () => {
    const rawInput = '{ "path" : "a.txt", "n": 1e3 }';
    const { requests } = await play([
      { text: ' \n', toolCalls: [{ id: 'c1', name: 'read_file', rawInput }] },
      { text: 'done' },
    ]);
    const echo = requests[1]?.body.messages[2];
    expect(echo.content).toBeNull();
    expect(echo.tool_calls[0].function.arguments).toBe('{"path":"a.txt","n":1000}');
  });

  it('keeps a malformed turn and appends an error', async () => {
    const bad = '<tool_call>{"name": oops';
    const { requests, run } = await play([
      { text: bad },
      { toolCalls: [use('fly', {}, 'c2'), { id: 'c3', name: 'shell', rawInput: '{"command": ' }] },
      { text: 'done' },
    ]);
    expect(run.stdout).toBe('done');
    expect(requests[1]?.body.messages.slice(2)).toEqual([
      { role: 'assistant', content: bad },
      { role: 'user', content: expect.stringContaining('could not be read') },
    ]);
    const tail = requests[2]?.body.messages.slice(-3);
    expect(tail[0].tool_calls[1].function.arguments).toBe('{}');
    expect(tail[1].content).toContain('unknown tool "fly"');
    expect(tail[2].content).toContain('no JSON object');
  });

  it('runs a helper with its own thread and tools', async () => {
    const { requests } = await play([
      { toolCalls: [use('delegate', { prompt: 'Look.' })] },
      { text: 'Nothing there.' },
      { text: 'done' },
    ]);
    expect(requests[1]?.body.messages[1]).toEqual({ role: 'user', content: 'Look.' });
    expect(requests[1]?.body.tools).toHaveLength(1);
    expect(requests[2]?.body.messages.at(-1).content).toBe('Nothing there.');
  });

  it('compacts into question, summary and instruction', async () => {
    const { requests } = await play(
      [
        { toolCalls: [use('shell', { command: 'true' })], inputTokens: 51 },
        { text: 'A summary.' },
        { text: 'done' },
      ],
      { args: ['--context-limit', '50'] },
    );
    expect(requests[1]?.body.messages.at(-1)).toMatchObject({ role: 'user' });
    expect(requests[1]?.body.messages).toHaveLength(5);
    expect(requests[2]?.body.messages.slice(1)).toEqual([
      { role: 'user', content: 'What did we do so far?' },
      { role: 'assistant', content: 'A summary.' },
      { role: 'user', content: 'Do the task.\n\nContinue.' },
    ]);
  });

  it('cuts long output, and stops a command after five seconds', async () => {
    const { requests } = await play([
      {
        toolCalls: [
          use('shell', { command: 'yes | head -c 9000' }, 'c1'),
          use('shell', { command: 'echo hi; sleep 30 & sleep 30' }, 'c2'),
        ],
      },
      { text: 'done' },
    ]);
    const [long, slow] = requests[1]?.body.messages.slice(-2) ?? [];
    expect(Buffer.byteLength(long.content)).toBeLessThan(2_050);
    expect(long.content).toContain('[cut]');
    expect(slow.content).toBe('hi\n\n[stopped after 5 s]');
  });

  it('retries like a client library and fails with a clear message', async () => {
    const ok = await play([
      { fault: 'reset' },
      { status: 500 },
      { fault: 'noTerminal' },
      { status: 429, headers: { 'retry-after': '1' } },
      { text: 'done' },
    ]);
    expect(ok.run.stdout).toBe('done');
    expect(new Set(ok.requests.map((request) => request.text)).size).toBe(1);
    const refused = await play([{ status: 401 }]);
    expect(refused.run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('birch: HTTP 401') });
  });
});

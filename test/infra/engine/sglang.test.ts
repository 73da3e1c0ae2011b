import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine, GenerateRequest } from '../../../infra/engine/engine.ts';
import { type ScriptedEngine, startScriptedEngine } from '../../../infra/engine/scripted.ts';
import { readScript, type ScriptedReply } from '../../../infra/engine/scriptedReply.ts';
import { sglangEngine } from '../../../infra/engine/sglang.ts';
import { accumulateReply } from '../../../infra/engine/sglangReply.ts';
import { rankReplicas, stickyEngine } from '../../../infra/engine/stickyEngine.ts';
import { tinyModel as model } from '../../support/proxyWorld.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

async function scripted(script: readonly ScriptedReply[], incremental = false): Promise<ScriptedEngine> {
  const engine = await startScriptedEngine({ script, model, incremental });
  opened.push(engine);
  return engine;
}

function ask(changes: Partial<GenerateRequest> = {}): GenerateRequest {
  return {
    requestId: 'r',
    inputIds: model.encode('hello'),
    maxTokens: 100,
    temperature: 1,
    stopTokenIds: model.stopTokenIds,
    signal: new AbortController().signal,
    ...changes,
  };
}

describe('the SGLang adapter', () => {
  it.each([false, true])('reads a stream, incremental: %s', async (incremental) => {
    const server = await scripted([{ text: 'some words', version: '7' }], incremental);
    const result = await sglangEngine(server.url).generate(ask());
    expect(model.decode(result.tokenIds)).toBe('some words<|im_end|>');
    expect(result.logprobs).toHaveLength(result.tokenIds.length);
    expect(result.policySpans).toEqual([{ version: '7', start: 0, end: result.tokenIds.length }]);
    expect(result.finishReason).toBe('stop');
    expect(server.calls[0]!.inputIds).toEqual([...model.encode('hello')]);
  });

  it('keeps version spans, limits and aborts', async () => {
    const versions = [
      { version: '1', start: 0, end: 2 },
      { version: '2', start: 2, end: 3 },
    ];
    const tokenIds = [65, 66, 67];
    const server = await scripted([
      { tokenIds, versions },
      { text: 'long text' },
      { text: 'half', finishReason: 'abort' },
    ]);
    const engine = sglangEngine(server.url);
    expect((await engine.generate(ask())).policySpans).toEqual(versions);
    expect((await engine.generate(ask({ maxTokens: 2 }))).finishReason).toBe('length');
    expect((await engine.generate(ask())).finishReason).toBe('abort');
  });

  it.each([[null], [-9999], [Number.NaN]])('refuses %s as a log-probability', async (logprob) => {
    const server = await scripted([{ tokenIds: [65, 66], logprobs: [-0.5, logprob] }]);
    await expect(sglangEngine(server.url).generate(ask())).rejects.toMatchObject({ code: 'E_ENGINE_REPLY' });
  });

  it('reports an engine that fails or is not there', async () => {
    const server = await scripted([{ status: 503 }]);
    await expect(sglangEngine(server.url).generate(ask())).rejects.toMatchObject({ code: 'E_ENGINE' });
    const gone = sglangEngine('http://127.0.0.1:1');
    await expect(gone.generate(ask())).rejects.toMatchObject({ code: 'E_ENGINE' });
    expect(await gone.health()).toBe(false);
  });

  it('switches weights', async () => {
    const server = await scripted([{ text: 'x' }]);
    const engine = sglangEngine(server.url);
    await engine.updateWeights('9', '/weights');
    expect((await engine.generate(ask())).policySpans[0]!.version).toBe('9');
    expect(await engine.health()).toBe(true);
  });

  it('closes the stream when it is told to stop or is aborted', async () => {
    const closed: string[] = [];
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const meta = { completion_tokens: 1, output_token_logprobs: [[-0.1, 65, null]], finish_reason: null };
      response.write(`data: ${JSON.stringify({ output_ids: [65], meta_info: meta })}\n\n`);
      response.on('close', () => closed.push(request.url!));
    });
    const engine = sglangEngine(await listen(server));
    const stopped = await engine.generate(ask({ stopWhen: (ids) => ids.length > 0 }));
    expect([...stopped.tokenIds]).toEqual([65]);
    const abort = new AbortController();
    const waiting = engine.generate(ask({ signal: abort.signal }));
    abort.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect.poll(() => closed.length).toBeGreaterThanOrEqual(1);
  });
});

describe('the accumulator', () => {
  const chunk = (
    ids: readonly number[],
    entries: readonly number[],
    total: number,
    finish?: string,
  ): object => ({
    output_ids: ids,
    meta_info: {
      completion_tokens: total,
      output_token_logprobs: entries.map((id) => [-0.25, id, null]),
      finish_reason: finish === undefined ? null : { type: finish },
    },
  });

  it('takes incremental ids with cumulative log-probabilities, and an abort that lost its ids', () => {
    const mixed = accumulateReply();
    mixed.add(chunk([1, 2], [1, 2], 2));
    mixed.add(chunk([3], [1, 2, 3], 3, 'stop'));
    expect([...mixed.result(1, false).tokenIds]).toEqual([1, 2, 3]);
    const aborted = accumulateReply();
    aborted.add(chunk([1, 2], [1, 2], 2));
    aborted.add(chunk([2], [1, 2], 2, 'abort'));
    expect([...aborted.result(1, false).tokenIds]).toEqual([1, 2]);
  });

  it('refuses gaps, disagreement and a stream without an end', () => {
    const gap = accumulateReply();
    gap.add(chunk([1], [1], 1));
    expect(() => gap.add(chunk([3], [3], 3))).toThrow(/does not make 3/u);
    const differing = accumulateReply();
    differing.add(chunk([1], [2], 1, 'stop'));
    expect(() => differing.result(1, false)).toThrow(/different tokens/u);
    expect(() => accumulateReply().result(1, false)).toThrow(/ended before/u);
  });
});

describe('several replicas', () => {
  it('keep a key on its replica, and move only the keys of one that is gone', async () => {
    const keys = Array.from({ length: 50 }, (_, at) => `rollout ${at}`);
    const before = keys.map((key) => rankReplicas(key, 3)[0]);
    expect(new Set(before).size).toBe(3);
    const fewer = keys.map((key) => rankReplicas(key, 2)[0]);
    for (const [at, place] of before.entries()) if (place !== 2) expect(fewer[at]).toBe(place);
  });

  it('pass a dead replica over', async () => {
    const server = await scripted([{ text: 'x', repeat: true }]);
    const engines: Engine[] = [sglangEngine('http://127.0.0.1:1'), sglangEngine(server.url)];
    const engine = stickyEngine(engines);
    for (const stickyKey of ['a', 'b', 'c', 'd']) {
      expect((await engine.generate(ask({ stickyKey }))).finishReason).toBe('stop');
    }
    expect(() => stickyEngine([])).toThrow(expect.objectContaining({ code: 'E_CONFIG' }));
  });
});

describe('a script', () => {
  it('is JSON lines or one array, and a broken line is named', () => {
    expect(readScript('{"text":"a"}\n\n{"text":"b"}\n')).toHaveLength(2);
    expect(readScript('[{"text":"a"}]')).toEqual([{ text: 'a' }]);
    expect(() => readScript('{"text":"a"}\nnope')).toThrow(/line 2/u);
  });

  it('gives replies by place and by prompt', async () => {
    const server = await scripted([
      { text: 'by prompt', match: 'hello' },
      { text: 'by place', match: 0 },
    ]);
    const engine = sglangEngine(server.url);
    const textOf = async (input: string): Promise<string> =>
      model.decode((await engine.generate(ask({ inputIds: model.encode(input) }))).tokenIds);
    expect(await textOf('other')).toContain('by place');
    expect(await textOf('hello')).toContain('by prompt');
    expect(await textOf('hello')).toContain('no reply left');
  });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

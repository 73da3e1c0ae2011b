import { afterEach, describe, expect, it } from 'vitest';
import { EspalierError } from '../../../schemas/errors.ts';
import { type ProxyWorld, proxyWorld, tinyModel, tokenFor } from '../../support/proxyWorld.ts';
import { type RawAnswer, rawRequest } from '../../support/rawRequest.ts';

let world: ProxyWorld;
afterEach(() => world.close());

type Turn = { role: string; content: unknown };

function body(messages: readonly Turn[], extra: object = {}): string {
  return JSON.stringify({ model: 'm', max_tokens: 100, messages, ...extra });
}
const hello = body([{ role: 'user', content: 'hello' }]);

function send(text: string | Buffer, token = world.token, url = world.proxy.modelUrl) {
  return rawRequest(`${url}/r/${token}/v1/messages`, text);
}
async function post(text: string, token = world.token, url = world.proxy.modelUrl): Promise<RawAnswer> {
  return send(text, token, url).answer;
}
function textOf(answer: RawAnswer): string {
  return (JSON.parse(answer.text) as { content: { text: string }[] }).content[0]!.text;
}

describe('durable before reply', () => {
  it('sends nothing before the record is in the log', async () => {
    world = await proxyWorld([{ text: 'one' }]);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let appending = false;
    world.log.beforeAppend = async () => {
      appending = true;
      await held;
    };
    let answered = false;
    const answer = post(hello).finally(() => {
      answered = true;
    });
    await expect.poll(() => appending).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(answered).toBe(false);
    release();
    expect(textOf(await answer)).toBe('one');
  });

  it('answers 503 when the append fails, and reads the log before it goes on', async () => {
    world = await proxyWorld([{ text: 'lost' }, { text: 'kept' }]);
    let broken = true;
    world.log.beforeAppend = async () => {
      if (broken) throw new Error('disk full');
    };
    const refused = await post(hello);
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.text).not.toContain('lost');
    expect(world.calls()).toHaveLength(0);
    broken = false;
    expect(textOf(await post(hello))).toBe('kept');
  });

  it('gives the recorded reply when the append did write but reported a failure', async () => {
    world = await proxyWorld([{ text: 'written' }, { text: 'second' }]);
    const { append } = world.log;
    world.log.append = async (records) => {
      await append(records);
      throw new Error('acknowledgement lost');
    };
    expect((await post(hello)).status).toBe(503);
    world.log.append = append;
    expect(textOf(await post(hello))).toBe('written');
    expect(world.calls()).toHaveLength(1);
    expect(textOf(await post(hello))).toBe('second');
  });

  it('makes a call that no record can hold failed, in the dialect of a request too large', async () => {
    world = await proxyWorld([{ text: 'x' }]);
    world.log.beforeAppend = async (records) => {
      if (records[0]!.event.type === 'ModelCalled')
        throw new EspalierError('E_LOG_RECORD_TOO_LARGE', 'too large');
    };
    const answer = await post(hello);
    expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([413, 'request_too_large']);
    expect(world.failures().map((event) => event.reason)).toEqual(['tooLarge']);
  });
});

describe('requests that come again', () => {
  it('join the call in flight', async () => {
    world = await proxyWorld([{ text: 'once', delayMs: 50 }]);
    const answers = await Promise.all([post(hello), post(hello), post(hello)]);
    expect(answers.map(textOf)).toEqual(['once', 'once', 'once']);
    expect(world.calls()).toHaveLength(1);
  });

  it('are sampled anew after a delivered reply, as siblings', async () => {
    world = await proxyWorld([{ text: 'one' }, { text: 'two' }]);
    expect([textOf(await post(hello)), textOf(await post(hello))]).toEqual(['one', 'two']);
    expect(world.calls().map((event) => event.parentCallId)).toEqual([null, null]);
  });

  it('that an SDK marks as a retry get the reply it missed, unless the request failed in between', async () => {
    world = await proxyWorld([{ text: 'one' }, { status: 503 }, { text: 'two' }]);
    const retry = () =>
      rawRequest(`${world.proxy.modelUrl}/r/${world.token}/v1/messages`, hello, {
        'x-stainless-retry-count': '1',
      }).answer;
    expect(textOf(await post(hello))).toBe('one');
    expect(textOf(await retry())).toBe('one');
    expect((await post(hello)).status).toBe(503);
    expect(textOf(await retry())).toBe('two');
    expect(world.calls()).toHaveLength(2);
  });

  it('get the same reply when it was recorded but never arrived', async () => {
    world = await proxyWorld([{ text: 'one' }, { text: 'two' }]);
    let release = (): void => undefined;
    let appending = false;
    world.log.beforeAppend = () => {
      appending = true;
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const lost = send(hello);
    await expect.poll(() => appending).toBe(true);
    lost.leave();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const again = post(hello);
    await new Promise((resolve) => setTimeout(resolve, 20));
    world.log.beforeAppend = async () => undefined;
    release();
    expect(textOf(await again)).toBe('one');
    expect(world.calls()).toHaveLength(1);
    expect(textOf(await post(hello))).toBe('two');
  });
});

describe('a client that leaves', () => {
  it('aborts the engine call, which is recorded as failed', async () => {
    world = await proxyWorld([{ text: 'never', delayMs: 5_000 }, { text: 'next' }]);
    const leaving = send(hello);
    await expect.poll(() => world.engine.calls.length).toBe(1);
    leaving.leave();
    await expect.poll(() => world.failures().map((event) => event.reason)).toEqual(['clientGone']);
    await expect.poll(() => world.engine.calls[0]!.aborted).toBe(true);
    expect(textOf(await post(hello))).toBe('next');
  });

  it('does not take the call from another client that waits for it', async () => {
    world = await proxyWorld([{ text: 'shared', delayMs: 150 }]);
    const leaving = send(hello);
    await expect.poll(() => world.engine.calls.length).toBe(1);
    const staying = post(hello);
    await new Promise((resolve) => setTimeout(resolve, 20));
    leaving.leave();
    expect(textOf(await staying)).toBe('shared');
  });

  it('leaves an undelivered reply that the seal names', async () => {
    world = await proxyWorld([{ text: 'unread' }]);
    let appending = false;
    let release = (): void => undefined;
    world.log.beforeAppend = () => {
      appending = true;
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const leaving = send(hello);
    await expect.poll(() => appending).toBe(true);
    leaving.leave();
    await new Promise((resolve) => setTimeout(resolve, 20));
    world.log.beforeAppend = async () => undefined;
    release();
    const sealed = await world.proxy.seal(world.claims);
    expect(sealed).toMatchObject({ callCount: 1, undelivered: [world.calls()[0]!.callId] });
  });
});

describe('the engine', () => {
  it('may abort: the call goes on where it was, with both versions', async () => {
    world = await proxyWorld([
      { text: 'first half, ', finishReason: 'abort', version: '1' },
      { text: 'second half', version: '2' },
    ]);
    expect(textOf(await post(hello))).toBe('first half, second half');
    const [event] = world.calls();
    const cut = tinyModel.encode('first half, ').length;
    expect(event!.policySpans).toEqual([
      { version: '1', start: 0, end: cut },
      { version: '2', start: cut, end: event!.sampledTokenIds.length },
    ]);
    expect(world.engine.calls[1]!.inputIds).toEqual([
      ...event!.envTokenIds,
      ...event!.sampledTokenIds.subarray(0, cut),
    ]);
    expect(world.engine.calls[1]!.maxTokens).toBe(world.engine.calls[0]!.maxTokens - cut);
  });

  it('that gives no log-probabilities makes the call failed, never a sample', async () => {
    world = await proxyWorld([{ tokenIds: [65], logprobs: [null] }]);
    expect((await post(hello)).status).toBe(503);
    expect(world.failures().map((event) => event.reason)).toEqual(['engineReply']);
  });

  it('samples as the run says; what the harness asked for is recorded', async () => {
    world = await proxyWorld([{ text: 'x' }], { sampling: { temperature: 0.7, maxTokens: 40 } });
    await post(body([{ role: 'user', content: 'x' }], { temperature: 0, top_p: 0.1, max_tokens: 9_000 }));
    expect(world.engine.calls[0]).toMatchObject({ temperature: 0.7, maxTokens: 40 });
    expect(world.calls()[0]).toMatchObject({ temperature: 0.7, maxTokens: 40, topP: 1 });
    expect(JSON.parse(world.calls()[0]!.requestedSampling!)).toMatchObject({ temperature: 0, top_p: 0.1 });
  });

  it('is not asked for more than is allowed at once', async () => {
    world = await proxyWorld([{ text: 'slow', delayMs: 100 }], { maxInFlight: 1 });
    const first = post(hello);
    await expect.poll(() => world.engine.calls.length).toBe(1);
    const second = await post(body([{ role: 'user', content: 'other' }]));
    expect([second.status, second.headers['retry-after']]).toEqual([429, '1']);
    await first;
  });
});

describe('a stream', () => {
  it('is kept alive in its dialect, and ends with its terminal event', async () => {
    world = await proxyWorld(
      [
        { text: 'late', delayMs: 80 },
        { text: 'late too', delayMs: 80 },
      ],
      { keepAliveMs: 20 },
    );
    const anthropic = await post(body([{ role: 'user', content: 'x' }], { stream: true }));
    expect(anthropic.text).toMatch(/^event: ping\ndata: \{"type":"ping"\}\n\n/u);
    expect(anthropic.text).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/u);
    const chat = await rawRequest(
      `${world.proxy.modelUrl}/r/${world.token}/v1/chat/completions`,
      body([{ role: 'user', content: 'y' }], { stream: true }),
    ).answer;
    expect(chat.text).toMatch(/^: keep-alive\n\n/u);
    expect(chat.text).toMatch(/data: \[DONE\]\n\n$/u);
  });

  it('that has begun ends with an error event when the engine fails', async () => {
    world = await proxyWorld([{ status: 500, delayMs: 80 }], { keepAliveMs: 20 });
    const answer = await post(body([{ role: 'user', content: 'x' }], { stream: true }));
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/event: error\ndata: .*overloaded_error.*\n\n$/u);
  });
});

describe('refusals', () => {
  it('need a valid, unexpired token of this proxy', async () => {
    world = await proxyWorld([{ text: 'x', repeat: true }]);
    for (const token of ['nobody', tokenFor({ expiresAt: 1 }), `${world.token.slice(0, -1)}_`, 'rt1.e30.x']) {
      const answer = await post(hello, token);
      expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([401, 'authentication_error']);
    }
    const bare = await rawRequest(`${world.proxy.modelUrl}/v1/messages`, hello).answer;
    expect(bare.status).toBe(401);
    expect(world.engine.calls).toHaveLength(0);
    const rotated = await world.restart();
    expect((await post(hello, world.token, rotated.modelUrl)).status).toBe(200);
  });

  it('of a body that is no JSON, or too large, leave the proxy well', async () => {
    world = await proxyWorld([{ text: 'fine' }]);
    const broken = await post('{"messages": [');
    expect([broken.status, JSON.parse(broken.text).error.type]).toEqual([400, 'invalid_request_error']);
    for (const text of [
      'null',
      '[]',
      '"x"',
      '{"messages":{}}',
      '{"messages":[null]}',
      '{"messages":[{"role":7}]}',
    ]) {
      expect((await post(text)).status).toBe(400);
    }
    const huge = await send(Buffer.alloc(33 * 1024 * 1024, 32)).answer;
    expect([huge.status, JSON.parse(huge.text).error.type]).toEqual([413, 'request_too_large']);
    expect(textOf(await post(hello))).toBe('fine');
  });

  it('of unknown routes need a token too, and HEAD is answered', async () => {
    world = await proxyWorld([]);
    const at = (path: string, method: string) =>
      rawRequest(`${world.proxy.modelUrl}${path}`, undefined, {}, method).answer;
    expect((await at('/v1/unknown', 'POST')).status).toBe(401);
    expect((await at(`/r/${world.token}/v1/unknown`, 'POST')).status).toBe(404);
    expect((await at(`/r/${world.token}/api/hello`, 'HEAD')).status).toBe(200);
    expect((await at(`/r/${world.token}/seal`, 'POST')).status).toBe(404);
  });
});

describe('rollouts apart', () => {
  it('never see each other, whatever ids and texts they repeat', async () => {
    const secret = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
    world = await proxyWorld([{ text: `secret ${secret}` }, { text: 'other' }]);
    const first = JSON.parse((await post(hello)).text) as { content: unknown };
    const stolen = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: first.content },
      { role: 'user', content: 'go on' },
    ];
    await post(body(stolen), tokenFor({ rolloutId: 'rollout2' }));
    const [, second] = world.calls();
    expect(second).toMatchObject({ rolloutId: 'rollout2', parentCallId: null, seq: 0 });
    expect(second!.attribution).toEqual([{ callId: null, by: 'none' }]);
    await post(hello, tokenFor({ attempt: 1 }));
    expect(world.calls()[2]).toMatchObject({ attempt: 1, seq: 0, parentCallId: null });
  });
});

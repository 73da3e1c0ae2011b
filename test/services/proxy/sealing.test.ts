import { afterEach, describe, expect, it } from 'vitest';
import { CREDENTIAL, type ProxyWorld, proxyWorld, tokenFor } from '../../support/proxyWorld.ts';
import { rawRequest } from '../../support/rawRequest.ts';

let world: ProxyWorld;
afterEach(() => world.close());

const tools = [{ name: 'f', input_schema: { type: 'object' } }];
const toolReply = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';

type Turn = { role: string; content: unknown };
async function turn(messages: readonly Turn[], url = world.proxy.modelUrl, token = world.token) {
  const body = JSON.stringify({ model: 'm', max_tokens: 100, tools, messages });
  const answer = await rawRequest(`${url}/v1/messages`, body, { 'x-api-key': token }).answer;
  return { ...answer, message: JSON.parse(answer.text) as { content: { type: string; id?: string }[] } };
}
function control(path: string, body: object | undefined, credential = CREDENTIAL) {
  return rawRequest(
    `${world.proxy.controlUrl}${path}`,
    body === undefined ? undefined : JSON.stringify(body),
    { authorization: `Bearer ${credential}` },
    body === undefined ? 'GET' : 'POST',
  ).answer;
}
const open: readonly Turn[] = [{ role: 'user', content: 'start' }];

describe('a seal', () => {
  it('counts good and failed calls, refuses later ones, and the first one wins', async () => {
    world = await proxyWorld([{ text: 'a' }, { status: 500 }, { text: 'b' }]);
    await turn(open);
    await turn(open);
    await turn(open, undefined, tokenFor({ rolloutId: 'another' }));
    const sealed = await control('/seal', { token: world.token });
    const event = JSON.parse(sealed.text) as { callCount: number; callIds: string[] };
    expect(event.callCount).toBe(2);
    expect(event.callIds).toEqual([world.calls()[0]!.callId, world.failures()[0]!.callId]);
    const late = await turn(open);
    expect([late.status, world.engine.calls.length]).toEqual([403, 3]);
    expect((await control('/seal', { token: world.token })).text).toBe(sealed.text);
    expect(await world.proxy.seal(world.claims)).toEqual(event);
    expect(world.seals()).toHaveLength(1);
  });

  it('ends calls in flight and counts them', async () => {
    world = await proxyWorld([{ text: 'slow', delayMs: 5_000 }]);
    const waiting = turn(open);
    await expect.poll(() => world.engine.calls.length).toBe(1);
    expect(await world.proxy.seal(world.claims)).toMatchObject({ callCount: 1, undelivered: [] });
    expect(world.failures().map((event) => event.reason)).toEqual(['sealed']);
    expect((await waiting).status).toBe(403);
  });

  it('of a rollout without a call is published, also with an expired token', async () => {
    world = await proxyWorld([]);
    const expired = tokenFor({ expiresAt: 1 });
    expect(JSON.parse((await control('/seal', { token: expired })).text)).toMatchObject({ callCount: 0 });
  });

  it('is known to a proxy that starts later', async () => {
    world = await proxyWorld([{ text: 'a' }]);
    await turn(open);
    const sealed = await world.proxy.seal(world.claims);
    const next = await world.restart();
    expect(await next.seal(world.claims)).toEqual(sealed);
    expect((await turn(open, next.modelUrl)).status).toBe(403);
    expect(world.seals()).toHaveLength(1);
  });

  it('can be tried again when the log refused it; calls stay refused', async () => {
    world = await proxyWorld([{ text: 'a' }]);
    await turn(open);
    world.log.beforeAppend = async () => Promise.reject(new Error('disk full'));
    await expect(world.proxy.seal(world.claims)).rejects.toThrow('disk full');
    world.log.beforeAppend = async () => undefined;
    expect((await turn(open)).status).toBe(403);
    expect(await world.proxy.seal(world.claims)).toMatchObject({ callCount: 1 });
  });

  it('needs the control credential, on the control listener', async () => {
    world = await proxyWorld([]);
    expect((await control('/seal', { token: world.token }, 'wrong')).status).toBe(401);
    expect((await control('/seal', { token: world.token }, world.token)).status).toBe(401);
    expect((await control('/seal', { token: 'nobody' })).status).not.toBe(200);
    expect((await control('/seal', {})).status).toBe(400);
    expect((await control('/health', undefined)).status).toBe(200);
    expect((await control('/metrics', undefined)).text).toContain('espalier_proxy_calls_total 0');
  });
});

describe('a restart in mid-rollout', () => {
  it('goes on with the same sampled ids, ids of tool calls and order', async () => {
    world = await proxyWorld([{ text: `looking ${toolReply}` }, { text: toolReply }, { text: 'done' }]);
    const messages = [...open];
    let url = world.proxy.modelUrl;
    for (let round = 0; round < 3; round += 1) {
      const { message } = await turn(messages, url);
      messages.push({ role: 'assistant', content: message.content });
      const use = message.content.find((block) => block.type === 'tool_use');
      if (use === undefined) break;
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'r' }] });
      url = (await world.restart()).modelUrl;
    }
    const calls = world.calls();
    expect(calls.map((event) => event.seq)).toEqual([0, 1, 2]);
    expect(calls.map((event) => event.parentCallId)).toEqual([null, calls[0]!.callId, calls[1]!.callId]);
    const path = calls.flatMap((event) => [...event.envTokenIds, ...event.sampledTokenIds]);
    expect(world.engine.calls[2]!.inputIds).toEqual(path.slice(0, -calls[2]!.sampledTokenIds.length));
  });

  it('gives a reply that may have been lost once more, then samples anew', async () => {
    world = await proxyWorld([{ text: 'before' }, { text: 'after' }]);
    await turn(open);
    const { modelUrl } = await world.restart();
    expect((await turn(open, modelUrl)).text).toContain('before');
    expect((await turn(open, modelUrl)).text).toContain('after');
  });

  it('reads the log from where the token says', async () => {
    world = await proxyWorld([{ text: 'before' }, { text: 'after' }]);
    await turn(open, undefined, tokenFor({ groupId: 'group1', rolloutId: 'earlier' }));
    const token = tokenFor({ startOffset: 1 });
    expect((await turn(open, undefined, token)).text).toContain('after');
  });

  it('finds its calls again after they were dropped from memory', async () => {
    world = await proxyWorld([{ text: toolReply }, { text: 'done' }], { idleMs: 20 });
    const { message } = await turn(open);
    await expect.poll(async () => (await control('/metrics', undefined)).text).toContain('rollouts_open 0');
    await turn([
      ...open,
      { role: 'assistant', content: message.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: message.content[0]!.id, content: 'r' }] },
    ]);
    expect(world.calls()[1]!.parentCallId).toBe(world.calls()[0]!.callId);
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTinyEngine, type TinyEngine } from '../../../../infra/engine/tiny/server.ts';
import { TinyChat } from '../../../../infra/engine/tiny/tinyChat.ts';
import { decodeIds, loadVocabulary } from '../../../../infra/engine/tiny/vocabulary.ts';
import { serializeWeights, zeroWeights } from '../../../../infra/engine/tiny/weights.ts';

const vocabulary = loadVocabulary();
const input_ids = new TinyChat().prompt([{ role: 'user', content: 'Go.' }]);
let engine: TinyEngine;
let folder: string;

const post = async (path: string, body: unknown, signal?: AbortSignal) => {
  const init = { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) };
  const response = await fetch(engine.url + path, signal === undefined ? init : { ...init, signal });
  return { status: response.status, text: await response.text() };
};
const generate = async (body: object) => JSON.parse((await post('/generate', { input_ids, ...body })).text);
const zero = serializeWeights(zeroWeights(vocabulary.size));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tiny-'));
  await writeFile(join(folder, 'weights'), zero);
  engine = await startTinyEngine({ weights: zeroWeights(vocabulary.size), version: '1' });
});
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

describe('the tiny engine', () => {
  it('answers in the shape of /generate, one log-probability a token', async () => {
    const reply = await generate({
      rid: 'a',
      sampling_params: { max_new_tokens: 5, temperature: 1, seed: 4 },
    });
    const { meta_info: meta, output_ids: ids } = reply;
    expect(ids).toHaveLength(5);
    expect(reply.text).toBe(decodeIds(vocabulary, ids));
    expect(meta.output_token_logprobs.map((entry: number[]) => entry[1])).toEqual(ids);
    for (const [logprob] of meta.output_token_logprobs) expect(logprob).toBeLessThan(-6);
    expect(meta).toMatchObject({
      id: 'a',
      finish_reason: { type: 'length' },
      prompt_tokens: input_ids.length,
      completion_tokens: 5,
      weight_version: '1',
      weight_versions: [{ version: '1', start: 0, end: 5 }],
    });
    expect(await generate({ rid: 'a', sampling_params: { max_new_tokens: 5, seed: 4 } })).toEqual(reply);
  });

  it('streams cumulatively and ends with [DONE]', async () => {
    const { text } = await post('/generate', {
      input_ids,
      stream: true,
      sampling_params: { max_new_tokens: 20 },
    });
    const chunks = text.trim().split('\n\n');
    expect(chunks.at(-1)).toBe('data: [DONE]');
    const parsed = chunks.slice(0, -1).map((chunk) => JSON.parse(chunk.slice('data: '.length)));
    const lengths = parsed.map((chunk) => chunk.output_ids.length);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(parsed.at(-1).meta_info.finish_reason).not.toBeNull();
  });

  it('takes new weights between two tokens, and says which version sampled which', async () => {
    const running = generate({ sampling_params: { max_new_tokens: 4000, seed: 11, temperature: 0 } });
    const update = await post('/update_weights_from_disk', {
      model_path: join(folder, 'weights'),
      weight_version: '2',
    });
    expect(JSON.parse(update.text)).toMatchObject({ success: true });
    const { meta_info: meta } = await running;
    expect(meta.weight_versions.map((span: { version: string }) => span.version)).toEqual(['1', '2']);
    expect(meta.weight_versions[0].end).toBe(meta.weight_versions[1].start);
    expect(meta.weight_versions[1].end).toBe(meta.completion_tokens);
    expect(meta.weight_version).toBe('2');
    const info = await (await fetch(`${engine.url}/get_model_info`)).json();
    expect(info).toMatchObject({ weight_version: '2' });
  });

  it('aborts on request and gives what it has', async () => {
    const running = generate({ rid: 'gone', sampling_params: { max_new_tokens: 60_000, temperature: 0 } });
    let success = false;
    while (!success) success = JSON.parse((await post('/abort_request', { rid: 'gone' })).text).success;
    const { meta_info: meta, output_ids: ids } = await running;
    expect(meta.finish_reason.type).toBe('abort');
    expect(ids.length).toBeLessThan(60_000);
  });

  it('stops working for a client that left', async () => {
    const leave = new AbortController();
    const left = post(
      '/generate',
      { input_ids, rid: 'left', sampling_params: { max_new_tokens: 60_000, temperature: 0 } },
      leave.signal,
    ).catch(() => 'left');
    await generate({ sampling_params: { max_new_tokens: 1 } });
    leave.abort();
    expect(await left).toBe('left');
    let known = true;
    while (known) known = JSON.parse((await post('/abort_request', { rid: 'left' })).text).success;
    expect(known).toBe(false);
  });

  it('refuses what it cannot serve with 400 and the reason', async () => {
    const cases: Array<[string, unknown, RegExp]> = [
      ['/generate', { input_ids: [vocabulary.size] }, /input_ids.*no id of this vocabulary/],
      ['/generate', { input_ids: [] }, /must not be empty/],
      ['/generate', { input_ids, sampling_params: { temperature: -1 } }, /temperature/],
      ['/generate', { input_ids, sampling_params: { max_new_tokens: 0 } }, /max_new_tokens/],
      ['/generate', '{', /JSON/],
      ['/update_weights_from_disk', { model_path: join(folder, 'none'), weight_version: '3' }, /cannot read/],
    ];
    for (const [path, body, message] of cases) {
      const { status, text } = await post(path, body);
      expect([path, status]).toEqual([path, 400]);
      expect(JSON.parse(text).error.message).toMatch(message);
    }
    expect((await fetch(`${engine.url}/health`)).status).toBe(200);
  });

  it('refuses a file of another kind and keeps the weights it has', async () => {
    await writeFile(join(folder, 'other'), 'no weights');
    const { status } = await post('/update_weights_from_disk', {
      model_path: join(folder, 'other'),
      weight_version: '9',
    });
    expect(status).toBe(400);
    const info = await (await fetch(`${engine.url}/get_model_info`)).json();
    expect(info).not.toMatchObject({ weight_version: '9' });
  });
});

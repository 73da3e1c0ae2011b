import { join } from 'node:path';
import pino from 'pino';
import { expect, it } from 'vitest';
import { startScriptedEngine } from '../../../infra/engine/scripted.ts';
import { sglangEngine } from '../../../infra/engine/sglang.ts';
import { openLmdbLog } from '../../../infra/log/openLmdbLog.ts';
import type { ModelCalled } from '../../../schemas/generated/events.ts';
import { startProxy } from '../../../services/proxy/startProxy.ts';
import { CLAIMS, CREDENTIAL, SECRET, tinyModel, tokenFor } from '../../support/proxyWorld.ts';
import { rawRequest } from '../../support/rawRequest.ts';
import { makeFolder } from '../../support/runHarness.ts';

it('goes on from the embedded log with the same ids after a restart', async () => {
  const folder = makeFolder();
  const script = [{ text: '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>' }, { text: 'done' }];
  const engine = await startScriptedEngine({ script, model: tinyModel });
  const messages: object[] = [{ role: 'user', content: 'start' }];
  const calls: ModelCalled[] = [];
  try {
    for (let round = 0; round < 2; round += 1) {
      const log = await openLmdbLog({ dir: join(folder.path, 'log'), partitions: 1 });
      const proxy = await startProxy({
        log,
        model: tinyModel,
        engines: [sglangEngine(engine.url)],
        secret: SECRET,
        sampling: { temperature: 1, maxTokens: 100 },
        controlCredential: CREDENTIAL,
        logger: pino({ level: 'silent' }),
      });
      const body = JSON.stringify({ model: 'm', max_tokens: 100, messages });
      const answer = await rawRequest(`${proxy.modelUrl}/r/${tokenFor()}/v1/messages`, body).answer;
      const { content } = JSON.parse(answer.text) as { content: { id: string }[] };
      messages.push({ role: 'assistant', content });
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: content[0]!.id, content: 'r' }],
      });
      if (round === 1) {
        expect(await proxy.seal(CLAIMS)).toMatchObject({ callCount: 2, undelivered: [] });
        for (const record of await log.read('model-calls', 0, 0n, 10))
          calls.push(log.decode(record) as ModelCalled);
      }
      await proxy.close();
      await log.close();
    }
    expect(calls[1]).toMatchObject({ parentCallId: calls[0]!.callId, seq: 1 });
    const path = [...calls[0]!.envTokenIds, ...calls[0]!.sampledTokenIds, ...calls[1]!.envTokenIds];
    expect(engine.calls[1]!.inputIds).toEqual(path);
  } finally {
    await engine.close();
    folder.remove();
  }
});

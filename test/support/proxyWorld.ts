import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { type ScriptedEngine, startScriptedEngine } from '../../infra/engine/scripted.ts';
import type { ScriptedReply } from '../../infra/engine/scriptedReply.ts';
import { sglangEngine } from '../../infra/engine/sglang.ts';
import { loadModel } from '../../infra/model/loadModel.ts';
import type { Model } from '../../infra/model/model.ts';
import type { ModelCalled, ModelCallFailed, RolloutSealed } from '../../schemas/generated/events.ts';
import { type RolloutClaims, signRolloutToken } from '../../schemas/rolloutToken.ts';
import { type ProxyOptions, type ServingProxy, startProxy } from '../../services/proxy/startProxy.ts';
import { type MemoryLog, memoryLog } from './memoryLog.ts';

export const SECRET = 'test secret';
export const CREDENTIAL = 'control credential';

/** The tiny model directory. */
export const tinyModel: Model = loadModel(
  fileURLToPath(new URL('../../infra/engine/tiny/model', import.meta.url)),
);

/** A proxy over a scripted engine and a log in memory. */
export interface ProxyWorld {
  readonly proxy: ServingProxy;
  readonly engine: ScriptedEngine;
  readonly log: MemoryLog;
  readonly claims: RolloutClaims;
  readonly token: string;
  calls(): readonly ModelCalled[];
  failures(): readonly ModelCallFailed[];
  seals(): readonly RolloutSealed[];
  /** Another proxy over the same log and engine, as after a restart. */
  restart(): Promise<ServingProxy>;
  close(): Promise<void>;
}

export const CLAIMS: RolloutClaims = {
  runId: 'run1',
  groupId: 'group1',
  rolloutId: 'rollout1',
  attempt: 0,
  taskId: 'task1',
  harness: 'alder',
  expiresAt: 4_000_000_000_000,
  startOffset: 0,
  issuedAt: 0,
};

/** A token for the claims of the tests, with changes. */
export function tokenFor(changes: Partial<RolloutClaims> = {}): string {
  return signRolloutToken({ ...CLAIMS, ...changes }, SECRET);
}

/** Starts the world; close it after the test. */
export async function proxyWorld(
  script: readonly ScriptedReply[],
  options: Partial<ProxyOptions> = {},
): Promise<ProxyWorld> {
  const log = memoryLog();
  const engine = await startScriptedEngine({ script, model: tinyModel });
  const start = (): Promise<ServingProxy> =>
    startProxy({
      log,
      model: tinyModel,
      engines: [sglangEngine(engine.url)],
      secret: SECRET,
      sampling: { temperature: 1, maxTokens: 512 },
      controlCredential: CREDENTIAL,
      logger: pino({ level: 'silent' }),
      ...options,
    });
  const proxies = [await start()];
  const typed = <T>(topic: 'model-calls' | 'rollouts', type: string): readonly T[] =>
    log.events(topic).filter((event) => event.type === type) as T[];
  return {
    proxy: proxies[0]!,
    engine,
    log,
    claims: CLAIMS,
    token: tokenFor(),
    calls: () => typed<ModelCalled>('model-calls', 'ModelCalled'),
    failures: () => typed<ModelCallFailed>('model-calls', 'ModelCallFailed'),
    seals: () => typed<RolloutSealed>('rollouts', 'RolloutSealed'),
    async restart() {
      const proxy = await start();
      proxies.push(proxy);
      return proxy;
    },
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await engine.close();
    },
  };
}

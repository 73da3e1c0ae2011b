import type { Logger } from 'pino';
import { sglangEngine } from '../../../infra/engine/sglang.ts';
import type { CrashPoint } from '../../../infra/process/crashPoint.ts';
import { createLifecycle } from '../../../infra/process/lifecycle.ts';
import { startChild } from '../../../infra/process/startChild.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import type { Decide } from '../../dispatcher/decide.ts';
import type { RunState } from '../../dispatcher/runState.ts';
import { startDispatcher } from '../../dispatcher/startDispatcher.ts';
import { type Store, startEmbedded } from '../../embedded.ts';
import { startEngineChild } from '../../engineChild.ts';
import { espalierBin } from '../espalierBin.ts';
import { tinyModelDir } from '../tinyModelDir.ts';
import { newestWeights } from './newestWeights.ts';

/** A run that is ready to be carried out. */
export interface RunToCarryOut {
  readonly store: Store;
  readonly runId: string;
  readonly config: RunConfig;
  readonly decide: Decide;
  /** Without one the policy stays what it is. */
  readonly trainer: boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly onChange?: (state: RunState) => void;
  readonly crashPoint?: CrashPoint;
}

/**
 * Carries a run out in this process and its children: the services here, the trainer and (without
 * engines of one's own) the tiny policy each in a process of its own.
 * @returns the state at the end of the run
 * @throws EspalierError E_INTERRUPTED when the signal aborts first; the same command goes on later
 */
export async function carryOut(run: RunToCarryOut): Promise<RunState> {
  const { store, runId, config, logger, signal } = run;
  const life = createLifecycle();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  const interrupted = () => fail(new EspalierError('E_INTERRUPTED', `run ${runId} was interrupted`));
  signal.addEventListener('abort', interrupted);
  // A signal that came before is not told to listeners.
  if (signal.aborted) interrupted();
  try {
    const urls = config.engines.length > 0 ? config.engines : [await startTinyEngine(run, life.own, fail)];
    const services = life.own(
      await startEmbedded({
        store,
        runId,
        config,
        modelDir: config.modelDir ?? tinyModelDir(),
        engines: urls.map((url) => sglangEngine(url)),
        logger,
        now: Date.now,
        onFatal: fail,
        ...(run.crashPoint === undefined ? {} : { crashPoint: run.crashPoint }),
      }),
      (e) => e.close(),
    );
    if (run.trainer) await startTrainer(run, urls, life.own, fail);
    const dispatcher = life.own(
      startDispatcher({
        log: store.log,
        runId,
        decide: run.decide,
        now: Date.now,
        ...(run.onChange === undefined ? {} : { onChange: run.onChange }),
      }),
      (d) => d.close(),
    );
    const state = await Promise.race([dispatcher.finished, failed]);
    await Promise.race([services.drained(), failed]);
    return state;
  } finally {
    signal.removeEventListener('abort', interrupted);
    await life.close();
  }
}

async function startTrainer(
  { store, runId }: RunToCarryOut,
  engines: readonly string[],
  own: ReturnType<typeof createLifecycle>['own'],
  fail: (error: unknown) => void,
): Promise<void> {
  const child = await startChild({
    script: espalierBin(),
    args: [
      'serve',
      'trainer',
      '--end-with-parent',
      '--data-dir',
      store.folder.dir,
      '--run',
      runId,
      ...engines.flatMap((url) => ['--engine', url]),
    ],
    env: childEnvironment(),
  });
  own(child, async (c) => {
    await c.close();
  });
  void child.exited.then(({ code, signal }) => {
    if (code !== 0)
      fail(new EspalierError('E_TRAINER', `the trainer ended (${signal ?? `exit code ${code}`})`));
  });
}

async function startTinyEngine(
  { store, runId, config, signal }: RunToCarryOut,
  own: ReturnType<typeof createLifecycle>['own'],
  fail: (error: unknown) => void,
): Promise<string> {
  const start = await newestWeights(store, runId);
  const { url, child } = await startEngineChild(
    espalierBin(),
    start === undefined
      ? ['--seed', String(config.seed)]
      : ['--weights', start.file, '--version', start.version],
    childEnvironment(),
    signal,
  );
  let closing = false;
  own(child, async (c) => {
    closing = true;
    await c.close();
  });
  void child.exited.then(({ code, signal }) => {
    if (!closing)
      fail(new EspalierError('E_ENGINE', `the tiny engine ended (${signal ?? `exit code ${code}`})`));
  });
  return url;
}

/** Children need a path and a home; what else stands in our environment is not theirs. */
function childEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { ...(PATH && { PATH }), ...(HOME && { HOME }), ...(TMPDIR && { TMPDIR }) };
}

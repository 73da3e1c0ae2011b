import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Blobs } from '../infra/blobs/blobs.ts';
import { directoryBlobs } from '../infra/blobs/directoryBlobs.ts';
import type { Engine } from '../infra/engine/engine.ts';
import type { EventLog } from '../infra/log/eventLog.ts';
import { openLmdbLog } from '../infra/log/openLmdbLog.ts';
import { loadModel } from '../infra/model/loadModel.ts';
import type { CrashPoint } from '../infra/process/crashPoint.ts';
import { type DataFolder, openDataFolder } from '../infra/process/dataFolder.ts';
import { createLifecycle } from '../infra/process/lifecycle.ts';
import { reapLeases } from '../infra/process/sandbox/leases.ts';
import { probeBubblewrap } from '../infra/process/sandbox/probeBubblewrap.ts';
import { signRolloutToken } from '../schemas/rolloutToken.ts';
import type { RunConfig } from '../schemas/runConfig.ts';
import { LIVE_VERSIONS } from '../streams/pipelineConfig.ts';
import { startProcessor } from './processor/startProcessor.ts';
import { startProxy } from './proxy/startProxy.ts';
import { findAdapter } from './sandbox/adapters/findAdapter.ts';
import { chooseIsolation } from './sandbox/chooseIsolation.ts';
import { startSandbox } from './sandbox/startSandbox.ts';
import { startVerifier } from './verifier/startVerifier.ts';

/** An opened data folder with its log and blobs: enough for reading and for starting a run. */
export interface Store {
  readonly folder: DataFolder;
  readonly log: EventLog;
  readonly blobs: Blobs;
  close(): Promise<void>;
}

/** Opens a data folder as its owner. @throws EspalierError E_DATA_DIR_* */
export async function openStore(dataDir: string): Promise<Store> {
  const life = createLifecycle();
  const folder = life.own(openDataFolder(dataDir), (f) => f.close());
  try {
    const log = life.own(await openLmdbLog({ dir: folder.log }), (l) => l.close());
    return { folder, log, blobs: directoryBlobs(folder.blobs), close: () => life.close() };
  } catch (error) {
    await life.close();
    throw error;
  }
}

/** What the embedded services need to know. */
export interface EmbeddedOptions {
  readonly store: Store;
  readonly runId: string;
  readonly config: RunConfig;
  readonly modelDir: string;
  readonly engines: readonly Engine[];
  readonly logger: Logger;
  readonly now: () => number;
  readonly crashPoint?: CrashPoint;
  /** Called when a service cannot go on. */
  readonly onFatal: (error: unknown) => void;
}

/** The services of one run in this process: proxy, processor, sandbox, verifier. */
export interface Embedded {
  readonly modelUrl: string;
  readonly controlUrl: string;
  /** Resolves when what stands in the log now has gone through the pipeline. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the services that carry rollouts from request to scored group in one process, in the order
 * in which events flow backwards: whoever reads an event is up before whoever writes it.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { store, runId, config, logger, now, onFatal, crashPoint } = options;
  const { folder, log, blobs } = store;
  const life = createLifecycle();
  try {
    const model = loadModel(options.modelDir);
    const secret = readSecret(folder.secret);
    const probe = await probeBubblewrap();
    const requested = config.sandbox === 'auto' ? undefined : config.sandbox;
    const isolation = config.harnesses.map((name) => chooseIsolation(findAdapter(name), probe, requested));
    for (const warning of new Set(isolation.map((i) => i.warning)))
      if (warning !== null) logger.warn(warning);
    const dirs = {
      work: join(folder.sandboxes, 'work'),
      leases: join(folder.sandboxes, 'leases'),
      harnesses: folder.harnesses,
    };
    // What stands here an owner before this one left behind; it ended without a chance to tidy up.
    await reapLeases(dirs.leases);
    await rm(dirs.work, { recursive: true, force: true }).catch((err: unknown) => {
      logger.warn({ err }, 'workspaces of an earlier run could not be removed');
    });
    const processor = life.own(
      await startProcessor({
        log,
        versionsOf: () => LIVE_VERSIONS,
        onError: onFatal,
        ...(crashPoint === undefined ? {} : { crashPoint }),
      }),
      (p) => p.close(),
    );
    const proxy = life.own(
      await startProxy({
        log,
        model,
        engines: options.engines,
        secret,
        sampling: { temperature: config.temperature, maxTokens: config.maxTokens },
        controlCredential: secret,
        logger,
        ...(crashPoint === undefined ? {} : { crashPoint }),
      }),
      (p) => p.close(),
    );
    life.own(
      await startVerifier({
        log,
        blobs,
        runId,
        concurrency: 2,
        isolation: isolation.every((i) => i.isolation === 'bubblewrap') ? 'bubblewrap' : 'process',
        graderFailureReward: config.graderFailureReward,
        dirs,
        now,
        onFatal,
      }),
      (v) => v.close(),
    );
    life.own(
      await startSandbox({
        log,
        blobs,
        runId,
        concurrency: config.concurrency,
        modelUrl: proxy.modelUrl,
        sign: (claims) => signRolloutToken(claims, secret),
        seal: (claims) => proxy.seal(claims),
        dirs,
        probe,
        settings: config,
        digests: { tokenizer: model.tokenizerDigest, template: model.templateDigest },
        now,
        logger,
        onFatal,
      }),
      (s) => s.close(),
    );
    return {
      modelUrl: proxy.modelUrl,
      controlUrl: proxy.controlUrl,
      drained: () => processor.drained(),
      close: () => life.close(),
    };
  } catch (error) {
    await life.close();
    throw error;
  }
}

/** The signing key of this data folder, made at first use and readable by its owner only. */
function readSecret(path: string): string {
  if (!existsSync(path)) {
    // Renamed into place: a crash in between must not leave an empty key.
    writeFileSync(`${path}.tmp`, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
    renameSync(`${path}.tmp`, path);
  }
  return readFileSync(path, 'utf8').trim();
}

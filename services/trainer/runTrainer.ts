import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { directoryBlobs } from '../../infra/blobs/directoryBlobs.ts';
import { sglangEngine } from '../../infra/engine/sglang.ts';
import type { EventLog } from '../../infra/log/eventLog.ts';
import { follow } from '../../infra/log/follow.ts';
import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import { dataFolderPaths } from '../../infra/process/dataFolder.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { PolicyPublished } from '../../schemas/generated/events.ts';
import type { RunConfig } from '../../schemas/runConfig.ts';
import { createLearner } from './createLearner.ts';
import { startTrainer } from './startTrainer.ts';

/**
 * The built-in trainer as a process beside the owner of a data folder: trains one run to its end.
 * @throws EspalierError E_RUN_UNKNOWN when the log has no such run
 */
export async function runTrainer(options: {
  readonly dataDir: string;
  readonly runId: string;
  /** URLs of the engines that get each version. */
  readonly engines: readonly string[];
  readonly signal: AbortSignal;
}): Promise<void> {
  const { dataDir, runId, signal } = options;
  const paths = dataFolderPaths(dataDir);
  const log = await openLmdbLog({ dir: paths.log });
  try {
    const blobs = directoryBlobs(paths.blobs);
    const config = await configOf(log, runId);
    const engines = options.engines.map((url) => sglangEngine(url));
    await mkdir(paths.models, { recursive: true });
    const file = join(paths.models, `${runId}.weights`);
    const push = async (published: PolicyPublished): Promise<void> => {
      if (published.weights === null) return;
      await writeFile(`${file}.tmp`, await blobs.get(published.weights));
      await rename(`${file}.tmp`, file);
      await Promise.all(engines.map((engine) => engine.updateWeights(published.version, file)));
    };
    const trainer = startTrainer({
      log,
      blobs,
      runId,
      createLearner: (saved) => createLearner(config, saved),
      push,
      now: Date.now,
    });
    const stop = () => void trainer.close();
    signal.addEventListener('abort', stop);
    await trainer.finished;
    signal.removeEventListener('abort', stop);
  } finally {
    await log.close();
  }
}

async function configOf(log: EventLog, runId: string): Promise<RunConfig> {
  const stop = new AbortController();
  let config: RunConfig | undefined;
  await follow({
    log,
    topics: ['scored-groups'],
    signal: stop.signal,
    onEvents: (events) => {
      for (const event of events) {
        if (event.type === 'RunConfigured' && event.runId === runId)
          config ??= JSON.parse(event.config) as RunConfig;
      }
    },
    onCaughtUp: () => stop.abort(),
  });
  if (config === undefined) throw new EspalierError('E_RUN_UNKNOWN', `no run ${runId} in this data folder`);
  return config;
}

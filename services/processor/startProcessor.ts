import type { EventLog } from '../../infra/log/eventLog.ts';
import type { CrashPoint } from '../../infra/process/crashPoint.ts';
import { createLifecycle } from '../../infra/process/lifecycle.ts';
import { type HopRun, runHop } from '../../infra/runner.ts';
import { pipeline } from '../../streams/pipeline.ts';
import type { PolicyVersions } from '../../streams/pipelineConfig.ts';
import { firstHop } from './firstHop.ts';
import { runDirectory } from './runDirectory.ts';
import { secondHop } from './secondHop.ts';

/** The running processor. */
export interface Processor {
  /** Resolves when what stands in the log now has gone through both hops. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

/** Options of the processor. */
export interface ProcessorOptions {
  readonly log: EventLog;
  /** Which policy versions the calls of a run may name; by default versions do not matter. */
  readonly versionsOf?: (runId: string) => PolicyVersions;
  readonly crashPoint?: CrashPoint;
  /** Called when a hop stops because of an error. */
  readonly onError?: (error: unknown) => void;
}

/** Runs both hops of the pipeline over all partitions of a log. */
export async function startProcessor(options: ProcessorOptions): Promise<Processor> {
  const { log, versionsOf, crashPoint, onError } = options;
  const runs = runDirectory(log);
  const [closeGroup, cutBatch] = pipeline(runs.known, versionsOf);
  const lifecycle = createLifecycle();
  const started = { first: [] as HopRun[], second: [] as HopRun[] };
  const rest = {
    ...(crashPoint === undefined ? {} : { crashPoint }),
    ...(onError === undefined ? {} : { onError }),
  };
  try {
    for (let partition = 0; partition < log.partitions; partition++) {
      const common = { log, partition, ...rest };
      const first = await runHop({ ...common, hop: firstHop(log, runs, closeGroup) });
      started.first.push(lifecycle.own(first, (run) => run.close()));
      const second = await runHop({ ...common, hop: secondHop(log, runs, cutBatch) });
      started.second.push(lifecycle.own(second, (run) => run.close()));
    }
  } catch (cause) {
    await lifecycle.close();
    throw cause;
  }
  return {
    async drained() {
      await Promise.all(started.first.map((run) => run.drained()));
      await Promise.all(started.second.map((run) => run.drained()));
    },
    close: () => lifecycle.close(),
  };
}

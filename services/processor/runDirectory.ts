import type { EventLog, LogRecord } from '../../infra/log/eventLog.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import { defaultRunConfig, type RunConfig } from '../../schemas/runConfig.ts';
import { scanTopic } from './scanTopic.ts';

/** What `scored-groups` says of a run besides its groups. */
export interface RunEntry {
  readonly runId: string;
  /** Offset of the run's first record. */
  readonly firstOffset: bigint;
  /** Null until its RunConfigured is read. */
  config: RunConfig | null;
  /** Offset of its RunEnded. */
  endOffset: bigint | null;
}

/** The runs of a log, read once and then followed. */
export interface RunDirectory {
  /**
   * The configuration of a run, from its RunConfigured; null when the log holds none. It is appended
   * before anything else of the run, so what is not there now is not on its way.
   */
  configOf(runId: string): Promise<RunConfig | null>;
  /** The configuration of a run that `configOf` found before. */
  known(runId: string): RunConfig;
  /** All runs of a partition. */
  runsOf(partition: number): Promise<readonly RunEntry[]>;
}

/** Looks at headers first, so samples are passed over without being decoded. */
export function runDirectory(log: EventLog): RunDirectory {
  const runs = new Map<string, RunEntry>();
  const positions = new Map<number, bigint>();

  const note = (record: LogRecord) => {
    const runId = record.headers.run ?? record.key;
    let entry = runs.get(runId);
    if (entry === undefined) {
      entry = { runId, firstOffset: record.offset, config: null, endOffset: null };
      runs.set(runId, entry);
    }
    if (record.headers.type === 'RunEnded') entry.endOffset ??= record.offset;
    if (record.headers.type === 'RunConfigured' && entry.config === null)
      entry.config = configIn(log, record);
  };
  const follow = async (partition: number) => {
    const from = positions.get(partition) ?? 0n;
    const to = await log.end('scored-groups', partition);
    await scanTopic(log, 'scored-groups', partition, { from, to }, note);
    if (to > (positions.get(partition) ?? 0n)) positions.set(partition, to);
  };
  return {
    async configOf(runId) {
      const found = runs.get(runId)?.config ?? null;
      if (found !== null) return found;
      await follow(partitionOf(runId, log.partitions));
      return runs.get(runId)?.config ?? null;
    },
    known(runId) {
      const config = runs.get(runId)?.config ?? null;
      if (config === null) throw new Error(`the configuration of run ${runId} was not looked up`);
      return config;
    },
    async runsOf(partition) {
      await follow(partition);
      return [...runs.values()].filter((run) => partitionOf(run.runId, log.partitions) === partition);
    },
  };
}

/** Keys that an older writer did not know have their defaults. A record that cannot be read gives none. */
function configIn(log: EventLog, record: LogRecord): RunConfig | null {
  try {
    const event = log.decode(record);
    if (event.type !== 'RunConfigured') return null;
    return { ...defaultRunConfig(), ...(JSON.parse(event.config) as Partial<RunConfig>) };
  } catch {
    return null;
  }
}

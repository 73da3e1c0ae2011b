import { EspalierError } from '../../../schemas/errors.ts';
import type { RunConfigured } from '../../../schemas/generated/events.ts';
import { defaultRunConfig, type RunConfig } from '../../../schemas/runConfig.ts';
import type { RunRecord } from '../../../streams/batch/runState.ts';
import { LIVE_VERSIONS, type PolicyVersions } from '../../../streams/pipelineConfig.ts';
import { settingsOf } from '../assemble/recordedConfig.ts';
import { type RecordSource, readEvents } from '../events/readEvents.ts';
import { isRunEvent } from './replayBatches.ts';

/** What a replay must know of a run besides its groups. */
export interface RunFacts {
  readonly runId: string;
  /** The configuration it ran with. */
  readonly config: RunConfig;
  readonly versions: PolicyVersions;
  /** Its records of `scored-groups`, in offset order: the input of the second hop. */
  readonly records: readonly RunRecord[];
}

/**
 * Reads what is recorded of a run as a whole.
 * @throws EspalierError E_RUN_UNKNOWN where its configuration is not on record
 */
export async function runFacts(source: RecordSource, runId: string): Promise<RunFacts> {
  const records: RunRecord[] = [];
  let configured: RunConfigured | undefined;
  for await (const { event, record } of readEvents(source, { topics: ['scored-groups'], runId })) {
    if (event.type === 'RunConfigured') configured ??= event;
    if (isRunEvent(event)) records.push({ event, offset: Number(record.offset) });
  }
  if (configured === undefined) {
    throw new EspalierError('E_RUN_UNKNOWN', `the configuration of run ${runId} is not on record`);
  }
  const config = { ...defaultRunConfig(), ...settingsOf(configured) };
  return { runId, config, versions: LIVE_VERSIONS, records };
}

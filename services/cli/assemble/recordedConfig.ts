import { EspalierError } from '../../../schemas/errors.ts';
import type { EspalierEvent, RunConfigured } from '../../../schemas/generated/events.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';
import { isSettingKey } from '../config/readConfigFile.ts';

/**
 * The settings that a recording was made with, where its runs agree on them: they stand below a
 * file, a flag or the environment.
 * @throws EspalierError E_CONFIG where a RunConfigured holds no settings
 */
export function recordedConfig(events: readonly EspalierEvent[]): Partial<RunConfig> {
  const configured = events.filter((event): event is RunConfigured => event.type === 'RunConfigured');
  const [first] = configured;
  if (first === undefined || configured.some(({ config }) => config !== first.config)) return {};
  return settingsOf(first);
}

/** The settings in the first record of a run; those of a later Espalier that we do not know are left out. */
export function settingsOf({ runId, config }: RunConfigured): Partial<RunConfig> {
  let value: unknown;
  try {
    value = JSON.parse(config);
  } catch (cause) {
    throw new EspalierError('E_CONFIG', `the recorded settings of run ${runId} are no JSON`, { cause });
  }
  return Object.fromEntries(Object.entries(value as object).filter(([key]) => isSettingKey(key)));
}

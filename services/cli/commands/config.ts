import { EspalierError } from '../../../schemas/errors.ts';
import type { Command } from '../command.ts';
import { configOptions } from '../config/configOptions.ts';

/** `config show`: each setting, its value, its origin and the reason of its default. */
export const command: Command = {
  name: 'config',
  summary: 'every setting, its value and where the value came from',
  usage: 'config show [--config FILE] [--SETTING VALUE ...]',
  details: 'A flag wins over the environment, the environment over the file, the file over the default.',
  options: configOptions(),
  positionals: { min: 1, max: 1 },
  async run({ values, env, positionals, json, out, emit, log, tableColumns }) {
    if (positionals[0] !== 'show') {
      throw new EspalierError('E_USAGE', `there is no "config ${positionals[0]}"`, {
        fix: 'Use `espalier config show`.',
      });
    }
    const [{ resolveRunConfig }, { SETTINGS }, { SETTING_KEYS, environmentName }, { formatTable }] =
      await Promise.all([
        import('../config/resolveRunConfig.ts'),
        import('../../../schemas/runConfig.ts'),
        import('../config/settingNames.ts'),
        import('../text/formatTable.ts'),
      ]);
    const { config, origins, file, warnings } = resolveRunConfig({ values, env });
    for (const warning of warnings) log.warn(warning);
    if (json) {
      emit({
        file: file ?? null,
        settings: Object.fromEntries(
          SETTING_KEYS.map((key) => [
            key,
            {
              value: config[key],
              origin: origins[key],
              environment: environmentName(key),
              why: SETTINGS[key].why,
            },
          ]),
        ),
      });
      return 0;
    }
    const rows = SETTING_KEYS.map((key) => [key, shown(config[key]), origins[key], SETTINGS[key].why]);
    out(formatTable(['setting', 'value', 'origin', 'why'], rows, tableColumns));
    return 0;
  },
};

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : value.join(',');
  return value === null ? 'null' : String(value);
}

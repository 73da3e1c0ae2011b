import { SETTINGS } from '../../../schemas/runConfig.ts';
import type { CommandOption, CommandOptions } from '../command.ts';
import { FLAG_ALIASES, flagName, SETTING_KEYS } from './settingNames.ts';

/**
 * Options for a command that takes a run configuration: `--config FILE`, one flag for every
 * setting, and the aliases `--harness`, `--task` and `--engine`.
 * @param shown settings that help lists; all of them where absent
 */
export function configOptions(shown?: readonly string[]): CommandOptions {
  const options: Record<string, CommandOption> = {
    config: { type: 'string', placeholder: 'FILE', summary: 'a YAML file of settings' },
  };
  for (const [alias, key] of Object.entries(FLAG_ALIASES)) {
    options[alias] = { type: 'string', placeholder: 'A,B', summary: SETTINGS[key].why, hidden: true };
  }
  for (const key of SETTING_KEYS) {
    options[flagName(key)] = {
      type: 'string',
      placeholder: placeholderOf(SETTINGS[key].schema as { readonly type?: string | readonly string[] }),
      summary: SETTINGS[key].why,
      ...(shown === undefined || shown.includes(key) ? {} : { hidden: true }),
    };
  }
  return options;
}

function placeholderOf(schema: { readonly type?: string | readonly string[] }): string {
  if (schema.type === 'array') return 'A,B';
  if (schema.type === 'integer' || schema.type === 'number') return 'N';
  return 'VALUE';
}

import { resolve } from 'node:path';
import { EspalierError } from '../../../schemas/errors.ts';
import { defaultRunConfig, type RunConfig } from '../../../schemas/runConfig.ts';
import type { CommandContext } from '../command.ts';
import { didYouMean } from '../nearest.ts';
import { checkRunConfig } from './checkRunConfig.ts';
import { parseSetting } from './parseSetting.ts';
import { isSettingKey, readConfigFile } from './readConfigFile.ts';
import {
  environmentName,
  FLAG_ALIASES,
  flagName,
  OTHER_VARIABLES,
  SETTING_KEYS,
  type SettingKey,
} from './settingNames.ts';

/** Where a value came from; `command` is a default of the command itself. */
export type Origin = 'flag' | 'environment' | 'file' | 'command' | 'default';

/** What to resolve a configuration from. */
export interface ConfigSources {
  /** Parsed options; `config` names the file unless `file` does. */
  readonly values: CommandContext['values'];
  readonly env: CommandContext['env'];
  readonly cwd?: string;
  /** Settings file, for commands that take it as an argument. */
  readonly file?: string;
  /** The command's own defaults: below a file, above the table. */
  readonly defaults?: Partial<RunConfig>;
}

/** A checked configuration and where each value came from. */
export interface ResolvedConfig {
  readonly config: RunConfig;
  readonly origins: Readonly<Record<SettingKey, Origin>>;
  readonly file: string | undefined;
  /** Things to tell a person that are no errors, such as an unknown ESPALIER_ variable. */
  readonly warnings: readonly string[];
}

/**
 * Flag over environment over file over the command's default over the table's.
 * @throws EspalierError E_CONFIG that names the setting, its source and what it must be
 */
export function resolveRunConfig(sources: ConfigSources): ResolvedConfig {
  const cwd = sources.cwd ?? process.cwd();
  const given = sources.file ?? (sources.values.config as string | undefined);
  const file = given === undefined ? undefined : resolve(cwd, given);
  const layers: readonly (readonly [Origin, Partial<Record<SettingKey, unknown>>])[] = [
    ['default', { ...defaultRunConfig() }],
    ['command', { ...sources.defaults }],
    ['file', file === undefined ? {} : readConfigFile(file)],
    ['environment', fromEnvironment(sources.env, cwd)],
    ['flag', fromFlags(sources.values, cwd)],
  ];
  const values: Partial<Record<SettingKey, unknown>> = {};
  const origins = {} as Record<SettingKey, Origin>;
  for (const [origin, layer] of layers) {
    for (const key of SETTING_KEYS) {
      if (layer[key] === undefined) continue;
      values[key] = layer[key];
      origins[key] = origin;
    }
  }
  const config = checkRunConfig(values, (key) => sourceName(key, origins[key], file));
  return { config: deepFreeze(config), origins, file, warnings: unknownVariables(sources.env) };
}

function fromFlags(values: CommandContext['values'], cwd: string): Partial<Record<SettingKey, unknown>> {
  const found: Partial<Record<SettingKey, unknown>> = {};
  for (const key of SETTING_KEYS) {
    const text = values[flagName(key)];
    if (typeof text === 'string') found[key] = absolute(key, parseSetting(key, text), cwd);
  }
  for (const [alias, key] of Object.entries(FLAG_ALIASES)) {
    const text = values[alias];
    if (typeof text !== 'string') continue;
    if (found[key] !== undefined) {
      throw new EspalierError('E_CONFIG', `--${alias} and --${flagName(key)} say the same thing`, {
        fix: `Give one of them; both take a list such as a,b.`,
      });
    }
    found[key] = absolute(key, parseSetting(key, text), cwd);
  }
  return found;
}

function fromEnvironment(env: CommandContext['env'], cwd: string): Partial<Record<SettingKey, unknown>> {
  const found: Partial<Record<SettingKey, unknown>> = {};
  for (const key of SETTING_KEYS) {
    const text = env[environmentName(key)];
    if (text !== undefined) found[key] = absolute(key, parseSetting(key, text), cwd);
  }
  return found;
}

function absolute(key: SettingKey, value: unknown, cwd: string): unknown {
  if ((key === 'tasks' || key === 'heldOutTasks') && Array.isArray(value))
    return value.map((v) => resolve(cwd, String(v)));
  return key === 'modelDir' && typeof value === 'string' ? resolve(cwd, value) : value;
}

function sourceName(key: SettingKey, origin: Origin | undefined, file: string | undefined): string {
  if (!isSettingKey(key)) return key;
  if (origin === 'flag') return `--${flagName(key)}`;
  if (origin === 'environment') return environmentName(key);
  if (origin === 'file') return file ?? key;
  return key;
}

/** A misspelt variable would change nothing, silently; so it is told. */
function unknownVariables(env: CommandContext['env']): string[] {
  const known = [...SETTING_KEYS.map(environmentName), ...OTHER_VARIABLES];
  return Object.keys(env)
    .filter((name) => name.startsWith('ESPALIER_') && !known.includes(name))
    .map((name) => `${name} is no variable of Espalier${didYouMean(name, known)}`);
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}

import { type RunConfig, SETTINGS } from '../../../schemas/runConfig.ts';

/** A key of the run configuration. */
export type SettingKey = keyof RunConfig;

/** All keys, in the order of the settings table. */
export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[];

/** `groupSize` as a flag: `group-size`. */
export function flagName(key: SettingKey): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `groupSize` in the environment: `ESPALIER_GROUP_SIZE`. */
export function environmentName(key: SettingKey): string {
  return `ESPALIER_${flagName(key).replaceAll('-', '_').toUpperCase()}`;
}

/** Shorter spellings of list settings, for one value or a few. */
export const FLAG_ALIASES: Readonly<Record<string, SettingKey>> = {
  harness: 'harnesses',
  task: 'tasks',
  engine: 'engines',
};

/** Variables of the environment that are no settings of a run. */
export const OTHER_VARIABLES: readonly string[] = [
  'ESPALIER_BLOBS_URL',
  'ESPALIER_CLICKHOUSE_URL',
  'ESPALIER_CRASH_AT',
  'ESPALIER_DATA_DIR',
  'ESPALIER_KAFKA_BROKERS',
  'ESPALIER_LOG_LEVEL',
  'ESPALIER_SCHEMA_REGISTRY_URL',
  'ESPALIER_SECRET',
];

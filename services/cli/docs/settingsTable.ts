import { SETTINGS } from '../../../schemas/runConfig.ts';
import { environmentName, flagName, SETTING_KEYS } from '../config/settingNames.ts';

interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
}

/** The settings of a run as a Markdown table, from the one table of defaults. */
export function settingsTable(): string {
  const rows = SETTING_KEYS.map((key) => {
    const { value, schema, why } = SETTINGS[key];
    return `| \`${key}\` | ${shown(value)} | ${allowed(schema as ValueSchema)} | ${why} |`;
  });
  const [example = 'groupSize'] = SETTING_KEYS.filter((key) => key === 'groupSize');
  return [
    `Each setting is a key of the file, a flag (\`${example}\`: \`--${flagName(example)}\`) and a variable (\`${environmentName(example)}\`).`,
    '',
    '| setting | default | values | what it does, and why this default |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `\`${value.join(',')}\``;
  return value === null ? 'none' : `\`${String(value)}\``;
}

function allowed(schema: ValueSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((v) => `\`${v}\``).join(', ');
  const types = [schema.type ?? 'string'].flat();
  const name = types.includes('array')
    ? 'list'
    : types.includes('integer')
      ? 'whole number'
      : (types[0] ?? '');
  if (schema.exclusiveMinimum !== undefined) return `${name} above ${schema.exclusiveMinimum}`;
  return schema.minimum === undefined ? name : `${name} from ${schema.minimum}`;
}

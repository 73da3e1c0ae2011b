import { SETTINGS } from '../../../schemas/runConfig.ts';
import type { SettingKey } from './settingNames.ts';

interface ValueSchema {
  readonly type?: string | readonly string[];
}

/**
 * The value that a text of a flag or of the environment stands for: a number, a list cut at
 * commas, null, or the text. A text that fits no type is returned as it is; the schema then names it.
 */
export function parseSetting(key: SettingKey, text: string): unknown {
  const { type } = SETTINGS[key].schema as ValueSchema;
  const types = type === undefined ? ['string'] : typeof type === 'string' ? [type] : type;
  if (types.includes('null') && (text === 'null' || text === '')) return null;
  if (types.includes('array')) {
    return text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }
  if (types.includes('integer') || types.includes('number')) {
    const value = Number(text);
    return text.trim() === '' || Number.isNaN(value) ? text : value;
  }
  return text;
}

import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { EspalierError } from '../../../schemas/errors.ts';
import { didYouMean } from '../nearest.ts';
import { SETTING_KEYS, type SettingKey } from './settingNames.ts';

/**
 * The settings of a YAML (or JSON) file. Paths in it are relative to the file.
 * @throws EspalierError E_CONFIG that names the file, the line or the key
 */
export function readConfigFile(path: string): Partial<Record<SettingKey, unknown>> {
  const values = parseFile(path);
  const folder = dirname(path);
  const known: Partial<Record<SettingKey, unknown>> = {};
  for (const [key, value] of Object.entries(values)) {
    if (!isSettingKey(key)) {
      throw new EspalierError(
        'E_CONFIG',
        `${path}: there is no setting "${key}"${didYouMean(key, SETTING_KEYS)}`,
      );
    }
    known[key] =
      key === 'tasks' || key === 'heldOutTasks' || key === 'modelDir' ? fromFolder(folder, value) : value;
  }
  return known;
}

function parseFile(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new EspalierError('E_CONFIG', `cannot read ${path}: ${(cause as Error).message}`, {
      cause,
      fix: 'Give the path of a YAML file of settings.',
    });
  }
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault !== undefined) {
    const line = fault.linePos?.[0].line;
    const where = line === undefined ? path : `${path}, line ${line}`;
    throw new EspalierError('E_CONFIG', `${where}: ${faultText(fault.message)}`, {
      fix: 'Correct the YAML.',
    });
  }
  const value: unknown = document.toJS() ?? {};
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new EspalierError('E_CONFIG', `${path} holds no settings`, {
    fix: 'Write one `key: value` a line; docs/configuration.md lists the keys.',
  });
}

/** The first line of a YAML error, without the place that is told already. */
function faultText(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
}

function fromFolder(folder: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((v) => fromFolder(folder, v));
  return typeof value === 'string' && !isAbsolute(value) ? resolve(folder, value) : value;
}

/** Whether a text is a key of the run configuration. */
export function isSettingKey(text: string): text is SettingKey {
  return (SETTING_KEYS as readonly string[]).includes(text);
}

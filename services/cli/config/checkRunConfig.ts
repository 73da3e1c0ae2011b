import { Ajv, type ErrorObject } from 'ajv';
import { EspalierError } from '../../../schemas/errors.ts';
import { type RunConfig, runConfigSchema } from '../../../schemas/runConfig.ts';
import type { SettingKey } from './settingNames.ts';

/** Words for where a setting came from, such as `--group-size`. */
export type NameSource = (key: SettingKey) => string;

/**
 * Checks a whole configuration: each value against its schema, then the values against each other.
 * @throws EspalierError E_CONFIG that names the setting, where it came from and what it must be
 */
export function checkRunConfig(values: Readonly<Record<string, unknown>>, source: NameSource): RunConfig {
  const validate = new Ajv({ allErrors: false, strict: false, verbose: true }).compile(runConfigSchema());
  if (!validate(values)) {
    const [fault] = validate.errors ?? [];
    if (fault !== undefined) throw faultOf(fault, source);
  }
  const config = values as unknown as RunConfig;
  for (const [bad, key, message] of crossChecks(config)) {
    if (bad) throw new EspalierError('E_CONFIG', `${source(key)}: ${message}`);
  }
  return config;
}

function faultOf(fault: ErrorObject, source: NameSource): EspalierError {
  const [key = '', ...inner] = fault.instancePath.split('/').slice(1);
  const place = inner.length === 0 ? key : `${key}[${inner.join('.')}]`;
  const allowed = (fault.params as { allowedValues?: readonly unknown[] }).allowedValues;
  const must =
    allowed === undefined ? (fault.message ?? 'is not valid') : `must be one of ${allowed.join(', ')}`;
  const given = JSON.stringify(fault.data);
  const from = source(key as SettingKey);
  const named = from === key ? place : `${place} (${from})`;
  return new EspalierError('E_CONFIG', `${named} ${must}, not ${given}`);
}

/** What no single schema can say: [is it wrong, the setting to change, why]. */
function crossChecks(c: RunConfig): readonly (readonly [boolean, SettingKey, string])[] {
  return [
    [
      c.algorithm === 'grpo' && c.minGroupSize > c.groupSize,
      'minGroupSize',
      `minGroupSize ${c.minGroupSize} is above groupSize ${c.groupSize}, so every group would be dropped`,
    ],
    [
      c.algorithm === 'grpo' && c.groupSize < 2,
      'groupSize',
      'grpo compares the rollouts of a group: groupSize must be 2 or more (ppo works with 1)',
    ],
    [
      c.algorithm === 'ppo' && c.estimator !== 'grpo',
      'estimator',
      `estimator ${c.estimator} is not used by ppo: leave it out`,
    ],
    [
      c.lossAggregation === 'constant' && c.lossConstant === null,
      'lossConstant',
      'lossAggregation constant needs lossConstant, the L to divide by',
    ],
    [
      c.lossAggregation !== 'constant' && c.lossConstant !== null,
      'lossConstant',
      `lossConstant is used by lossAggregation constant only, not by ${c.lossAggregation}`,
    ],
    [c.maxTokens >= c.maxContext, 'maxTokens', `maxTokens must be below maxContext ${c.maxContext}`],
    [
      c.contextLimit >= c.maxContext,
      'contextLimit',
      `contextLimit must be below maxContext ${c.maxContext}, or a harness never compacts in time`,
    ],
    [
      new Set(c.harnesses).size !== c.harnesses.length,
      'harnesses',
      'a harness is named twice; each makes groups of its own',
    ],
  ];
}

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { parseDocument } from 'yaml';
import { EspalierError } from '../../../schemas/errors.ts';
import type { TaskLimits } from './task.ts';
import { taskSchema } from './taskSchema.ts';

/** task.yaml as written, after its schema was checked. */
export interface TaskFile {
  readonly version: 1;
  readonly id?: string;
  readonly instruction: string;
  readonly workspace?: string;
  readonly verifier: {
    readonly command?: readonly string[];
    readonly script?: string;
    readonly files?: string;
    readonly timeoutSeconds?: number;
    readonly exitCode?: boolean;
    readonly criteria?: Readonly<Record<string, number>>;
    readonly pass?: number;
  };
  readonly limits?: TaskLimits;
}

// Compiled once: a run checks hundreds of tasks.
const validate: ValidateFunction<TaskFile> = new Ajv({ allErrors: true, verbose: true }).compile(taskSchema);

/**
 * Parses the text of a task.yaml. `file` is named in messages only.
 * @throws EspalierError E_TASK_INVALID with the line or the field that is wrong
 */
export function checkTaskFile(text: string, file: string): TaskFile {
  const document = parseDocument(text, { logLevel: 'silent' });
  const syntax = document.errors[0];
  if (syntax !== undefined) {
    const line = syntax.linePos?.[0].line ?? 1;
    throw invalid(
      `${file}, line ${line}: ${syntax.message.split('\n')[0]}`,
      'Correct the YAML of that line.',
    );
  }
  const value: unknown = document.toJS();
  if (validate(value)) return value;
  const error = pickError(validate.errors ?? []);
  const { message, fix } = explain(error);
  throw invalid(`${file}: ${message}`, fix);
}

// A misspelt field also makes the right one missing: the misspelling is the better message.
function pickError(errors: readonly ErrorObject[]): ErrorObject | undefined {
  return errors.find((error) => error.keyword === 'additionalProperties') ?? errors[0];
}

function explain(error: ErrorObject | undefined): { message: string; fix: string } {
  if (error === undefined) return { message: 'it is no task', fix: 'See docs/tasks.md.' };
  const field = error.instancePath.slice(1).replaceAll('/', '.');
  const inside = (name: string): string => (field === '' ? name : `${field}.${name}`);
  if (error.keyword === 'additionalProperties') {
    const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {}).join(', ');
    const name = inside(String(error.params.additionalProperty));
    return {
      message: `${name} is not a known field`,
      fix: `Remove it or correct its name; known here: ${known}.`,
    };
  }
  if (
    field.endsWith('verifier') &&
    (error.keyword === 'oneOf' || error.params.missingProperty === 'command')
  ) {
    const message = 'verifier needs exactly one of command and script';
    return { message, fix: 'Give `script: check.sh` (a file among the grader files) or `command: [...]`.' };
  }
  if (error.keyword === 'required') {
    const name = inside(String(error.params.missingProperty));
    return { message: `${name} is missing`, fix: `Add ${name}.` };
  }
  const described = (error.parentSchema as { description?: string }).description;
  const must =
    error.keyword === 'const' ? `must be ${JSON.stringify(error.params.allowedValue)}` : error.message;
  const fix = described === undefined ? `Correct ${field}.` : `Correct ${field}: ${described}.`;
  return { message: `${field || 'the file'} ${must ?? 'is wrong'}`, fix };
}

function invalid(message: string, fix: string): EspalierError {
  return new EspalierError('E_TASK_INVALID', message, { fix });
}

import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { EspalierError } from '../../schemas/errors.ts';

const LEVELS = ['error', 'warn', 'info', 'debug'];

/** What pino itself puts into every record; the rest of a record is the caller's. */
const OWN_FIELDS = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

/**
 * The program's log, on stderr.
 * @param json JSON lines; else readable ones
 * @throws EspalierError E_USAGE for an unknown level
 */
export function makeLogger(stderr: Writable, level: string, json: boolean): Logger {
  if (!LEVELS.includes(level)) {
    throw new EspalierError('E_USAGE', `there is no log level "${level}"`, {
      fix: `Use one of ${LEVELS.join(', ')}.`,
    });
  }
  if (json) return pino({ level }, stderr);
  const readable = new Writable({
    write(chunk: Buffer, _encoding, done) {
      stderr.write(readableLines(chunk.toString('utf8')), () => done());
    },
  });
  return pino({ level }, readable);
}

/** Log records as `time level message key=value ...`. */
function readableLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const record = JSON.parse(line) as Record<string, unknown>;
      const time = new Date(Number(record.time)).toISOString().slice(11, 23);
      const level = pino.levels.labels[Number(record.level)] ?? 'info';
      const rest = Object.entries(record)
        .filter(([key]) => !OWN_FIELDS.has(key))
        .map(([key, value]) => ` ${key}=${brief(value)}`);
      return `${time} ${level.padEnd(5)} ${String(record.msg ?? '')}${rest.join('')}\n`;
    })
    .join('');
}

function brief(value: unknown): string {
  if (typeof value === 'string') return value;
  const error = value as { message?: unknown } | null;
  if (typeof error === 'object' && typeof error?.message === 'string') return error.message;
  return JSON.stringify(value);
}

import type { Writable } from 'node:stream';
import { ERRORS, EspalierError } from '../../schemas/errors.ts';

/** Where and how an error is told. */
export interface ErrorPlace {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly json: boolean;
  /** Prints the stack of an error that nobody foresaw. */
  readonly stack: boolean;
}

/**
 * Tells an error: `error: ...` and `fix: ...` on stderr, or `{error:{code,message,fix}}` on stdout.
 * @returns the exit code the error table gives it; 1 for an error that is in no table
 */
export function printError(error: unknown, place: ErrorPlace): number {
  const known = asKnown(error);
  if (known === undefined) {
    const message = error instanceof Error ? error.message : String(error);
    const fix = 'This is a fault of Espalier: run again with --log-level debug and report what it prints.';
    if (place.json) {
      place.stdout.write(`${JSON.stringify({ error: { code: 'E_INTERNAL', message, fix } })}\n`);
    } else {
      place.stderr.write(`error: ${message}\nfix: ${fix}\n`);
    }
    if (place.stack && error instanceof Error) place.stderr.write(`${error.stack}\n`);
    return 1;
  }
  if (place.json) place.stdout.write(`${JSON.stringify(known)}\n`);
  else place.stderr.write(`error: ${known.message}\nfix: ${known.fix}\n`);
  if (place.stack) place.stderr.write(`${known.stack}\n`);
  return ERRORS[known.code].exit;
}

/** Errors of the table, and those of the operating system that have an entry there. */
function asKnown(error: unknown): EspalierError | undefined {
  if (error instanceof EspalierError) return error;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: string };
  if (code === 'EADDRINUSE') return new EspalierError('E_PORT_IN_USE', String(message), { cause: error });
  if (code === 'ENOSPC' || code === 'EROFS') {
    return new EspalierError('E_DATA_DIR_WRITE', String(message), { cause: error });
  }
  return undefined;
}

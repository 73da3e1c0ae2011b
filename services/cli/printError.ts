import type { Writable } from 'node:stream';
import { ERRORS, EspalierError } from '../../schemas/errors.ts';

/** Where and how an error is told. */
export interface ErrorPlace {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly json: boolean;
  /** Prints the stack too. */
  readonly stack: boolean;
}

/**
 * Tells an error: `error: ...` and `fix: ...` on stderr, or `{error:{code,message,fix}}` on stdout.
 * @returns the exit code that the error table gives it
 */
export function printError(error: unknown, place: ErrorPlace): number {
  const known = asKnown(error);
  if (place.json) place.stdout.write(`${JSON.stringify(known)}\n`);
  else place.stderr.write(`error: ${known.message}\nfix: ${known.fix}\n`);
  if (place.stack) place.stderr.write(`${stackOf(known)}\n`);
  return ERRORS[known.code].exit;
}

/** Errors of the table, those of the operating system that have an entry there, and the rest. */
function asKnown(error: unknown): EspalierError {
  if (error instanceof EspalierError) return error;
  const { code, message = String(error) } = (error ?? {}) as { code?: unknown; message?: string };
  const options = { cause: error };
  if (code === 'EADDRINUSE') return new EspalierError('E_PORT_IN_USE', message, options);
  if (code === 'ENOSPC' || code === 'EROFS') return new EspalierError('E_DATA_DIR_WRITE', message, options);
  return new EspalierError('E_INTERNAL', message, options);
}

/** The stack of an error and of those that caused it. */
function stackOf(error: Error): string {
  const { stack = error.message, cause } = error;
  return cause instanceof Error ? `${stack}\ncaused by: ${stackOf(cause)}` : stack;
}

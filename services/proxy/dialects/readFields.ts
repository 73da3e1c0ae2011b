import { EspalierError } from '../../../schemas/errors.ts';

/** A JSON object whose fields are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** A refusal that names the part of the request. */
export function refuse(message: string): EspalierError {
  return new EspalierError('E_REQUEST', message);
}

/** The value as an object. @throws EspalierError E_REQUEST */
export function objectAt(value: unknown, path: string): Fields {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw refuse(`${path} must be an object`);
  }
  return value as Fields;
}

/** The value as a list; absent is empty. @throws EspalierError E_REQUEST */
export function listAt(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw refuse(`${path} must be an array`);
  return value;
}

/** The value as a string. @throws EspalierError E_REQUEST */
export function textAt(value: unknown, path: string): string {
  if (typeof value !== 'string') throw refuse(`${path} must be a string`);
  return value;
}

/** The value as a positive whole number, or null when absent. @throws EspalierError E_REQUEST */
export function countAt(value: unknown, path: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
    throw refuse(`${path} must be a positive whole number`);
  }
  return value;
}

/** Text parts as one text; parts of white space only are no content. */
export function joinParts(parts: readonly string[]): string {
  const kept = parts.filter((part) => part.trim() !== '');
  return kept.length > 0 ? kept.join('\n') : '';
}

/** The named fields that are there, for the record. */
export function pick(fields: Fields, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) =>
      fields[name] === undefined || fields[name] === null ? [] : [[name, fields[name]]],
    ),
  );
}

/** What stands in the prompt for media that a text policy cannot see. */
export function placeholder(kind: string, mediaType: unknown, data: unknown): string {
  const type = typeof mediaType === 'string' ? ` ${mediaType}` : '';
  const size = typeof data === 'string' ? ` ${Math.floor((data.length * 3) / 4)} bytes` : '';
  return `[${kind} not shown:${type}${size}]`;
}

import { EspalierError } from './errors.ts';
import type { EspalierEvent } from './generated/events.ts';
import type { AvroField, AvroRecord, AvroType, SchemaSet } from './loadSchemas.ts';

/** Where a JSON value came from, for error messages. */
interface Place {
  readonly line: number;
  readonly path: string;
}

/** Nulls that mean something and are written out; every other null field is left out. */
const WRITTEN_NULLS = new Set(['advantage', 'scoredAttempt']);

/** Reads and writes the public JSON form of events, driven by the schemas. */
export interface EventJson {
  /** One line of JSON, without the line break; arrays of numbers in place of packed bytes. */
  write(event: EspalierEvent): string;
  /**
   * The event on one line, or undefined for a blank line or a `Format` line.
   * @throws EspalierError E_EVENT_JSON, E_EVENT_UNKNOWN_TYPE, naming line and field
   */
  read(text: string, line: number): EspalierEvent | undefined;
}

/** The public JSON form over a set of schemas: same field names, unknown fields ignored. */
export function eventJson(set: SchemaSet): EventJson {
  const toJson = (type: AvroType, value: unknown): unknown => {
    if (typeof type === 'string') {
      const part = set.parts.get(type);
      if (part !== undefined) return recordToJson(part, value as Record<string, unknown>);
      return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
    }
    if (Array.isArray(type)) {
      return value === null ? null : toJson(type.find((t) => t !== 'null') ?? 'null', value);
    }
    if ('items' in type) return (value as unknown[]).map((v) => toJson(type.items, v));
    if ('values' in type) {
      return Object.fromEntries(
        Object.entries(value as Record<string, unknown>)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([k, v]) => [k, toJson(type.values, v)]),
      );
    }
    if (value instanceof Float32Array) return Array.from(value, shortestFloat32);
    return Array.from(value as Int32Array);
  };
  const recordToJson = (schema: AvroRecord, value: Record<string, unknown>): Record<string, unknown> => {
    const out: Record<string, unknown> = {};
    for (const field of schema.fields) {
      const json = toJson(field.type, value[field.name]);
      if (json !== null || WRITTEN_NULLS.has(field.name)) out[field.name] = json;
    }
    return out;
  };
  const fromJson = (type: AvroType, value: unknown, place: Place): unknown => {
    if (Array.isArray(type)) {
      return value === null ? null : fromJson(type.find((t) => t !== 'null') ?? 'null', value, place);
    }
    if (typeof type === 'string') {
      const part = set.parts.get(type);
      return part === undefined ? primitive(type, value, place) : recordFromJson(part, value, place);
    }
    if ('items' in type) {
      return list(value, place).map((v, i) => fromJson(type.items, v, at(place, `[${i}]`)));
    }
    if ('values' in type) {
      return Object.fromEntries(
        Object.entries(object(value, place)).map(([k, v]) => [
          k,
          fromJson(type.values, v, at(place, `.${k}`)),
        ]),
      );
    }
    const kind = 'logicalType' in type && type.logicalType === 'float32-array' ? 'float' : 'int';
    const numbers = list(value, place).map((v, i) => primitive(kind, v, at(place, `[${i}]`)) as number);
    return kind === 'int' ? Int32Array.from(numbers) : Float32Array.from(numbers);
  };
  const recordFromJson = (schema: AvroRecord, value: unknown, place: Place): Record<string, unknown> => {
    const source = object(value, place);
    return Object.fromEntries(
      schema.fields.map((f) => [f.name, fieldFromJson(f, source[f.name], at(place, `.${f.name}`))]),
    );
  };
  const fieldFromJson = (field: AvroField, value: unknown, place: Place): unknown => {
    if (value !== undefined) {
      if (value === null && 'default' in field) return fromDefault(field);
      return fromJson(field.type, value, place);
    }
    if (!('default' in field)) throw bad(place, 'is missing');
    return fromDefault(field);
  };
  const fromDefault = (field: AvroField): unknown => structuredClone(field.default);

  return {
    write(event) {
      const schema = set.events.get(event.type);
      if (schema === undefined)
        throw new EspalierError('E_EVENT_UNKNOWN_TYPE', `no event named ${event.type}`);
      return JSON.stringify({ type: event.type, ...recordToJson(schema, event as never) });
    },
    read(text, line) {
      if (text.trim() === '') return undefined;
      const value = object(parse(text, line), { line, path: 'the line' });
      const name = value.type;
      if (typeof name !== 'string') throw bad({ line, path: 'type' }, 'must be the name of an event');
      if (name === 'Format') {
        if (value.version !== 1) throw bad({ line, path: 'Format.version' }, 'must be 1');
        return undefined;
      }
      const schema = set.events.get(name);
      if (schema === undefined) {
        throw new EspalierError(
          'E_EVENT_UNKNOWN_TYPE',
          `line ${line}: there is no event named ${JSON.stringify(name)}`,
        );
      }
      return {
        type: name,
        ...recordFromJson(schema, value, { line, path: name }),
      } as unknown as EspalierEvent;
    },
  };
}

/** The number with the fewest digits that becomes the same float32. */
function shortestFloat32(value: number): number {
  if (!Number.isFinite(value)) throw new EspalierError('E_EVENT_JSON', `${value} has no JSON form`);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

function parse(text: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EspalierError('E_EVENT_JSON', `line ${line} is not JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function primitive(type: string, value: unknown, place: Place): unknown {
  switch (type) {
    case 'string':
      if (typeof value === 'string') return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    case 'int':
      if (Number.isInteger(value) && Math.abs((value as number) + 0.5) <= 2 ** 31) return value;
      break;
    case 'long':
      if (Number.isSafeInteger(value)) return value;
      break;
    case 'float':
    case 'double':
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      break;
    case 'bytes':
      if (typeof value === 'string') return new Uint8Array(Buffer.from(value, 'base64'));
      break;
  }
  throw bad(
    place,
    `must be ${type === 'int' || type === 'long' ? 'an integer' : `a ${type}`}, not ${brief(value)}`,
  );
}

const at = (place: Place, step: string): Place => ({ line: place.line, path: place.path + step });

function list(value: unknown, place: Place): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw bad(place, `must be an array, not ${brief(value)}`);
}

function object(value: unknown, place: Place): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw bad(place, `must be an object, not ${brief(value)}`);
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}

function bad(place: Place, what: string): EspalierError {
  return new EspalierError('E_EVENT_JSON', `line ${place.line}: ${place.path} ${what}`);
}

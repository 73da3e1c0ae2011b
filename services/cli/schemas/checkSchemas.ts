import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { whyIncompatible } from '../../../schemas/isFullyCompatible.ts';
import { type AvroRecord, loadSchemas, standaloneSchema } from '../../../schemas/loadSchemas.ts';

/** A published version that the current schema does not get along with. */
export interface SchemaProblem {
  readonly event: string;
  readonly version: string;
  readonly why: string;
}

/** What a check of all schemas found. */
export interface SchemaReport {
  readonly events: number;
  readonly published: number;
  readonly problems: readonly SchemaProblem[];
}

/**
 * Compares the current schema of each event with every version published before
 * (`schemas/versions/<version>/<Event>.avsc`), in both directions.
 */
export function checkSchemas(): SchemaReport {
  const set = loadSchemas();
  const problems: SchemaProblem[] = [];
  for (const name of set.events.keys()) {
    const current = standaloneSchema(set, name);
    const why = whyIncompatible(current, current);
    if (why !== null) problems.push({ event: name, version: 'current', why });
  }
  const older = publishedVersions();
  for (const { version, schema } of older) {
    if (!set.events.has(schema.name)) {
      problems.push({ event: schema.name, version, why: 'the event is gone' });
      continue;
    }
    const why = whyIncompatible(schema, standaloneSchema(set, schema.name));
    if (why !== null) problems.push({ event: schema.name, version, why });
  }
  return { events: set.events.size, published: older.length, problems };
}

function publishedVersions(): readonly { readonly version: string; readonly schema: AvroRecord }[] {
  const folder = new URL('../../../schemas/versions/', import.meta.url);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.avsc'))
    .sort()
    .map((file) => ({
      version: dirname(file),
      schema: JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as AvroRecord,
    }));
}

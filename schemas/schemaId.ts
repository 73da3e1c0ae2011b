import { createHash } from 'node:crypto';

/**
 * Id of a schema document for the wire framing: the first 31 bits of the SHA-256 of its canonical
 * text, so every process and every data folder gives the same schema the same id. Documentation
 * does not count, defaults do.
 */
export function schemaId(schema: object): number {
  const digest = createHash('sha256')
    .update(JSON.stringify(withoutDocs(schema)))
    .digest();
  return digest.readUInt32BE(0) >>> 1;
}

function withoutDocs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDocs);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([key, v]) => key !== 'doc' || typeof v !== 'string');
  return Object.fromEntries(entries.map(([key, v]) => [key, withoutDocs(v)]));
}

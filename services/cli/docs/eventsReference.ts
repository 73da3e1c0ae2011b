import { type AvroField, type AvroRecord, type AvroType, loadSchemas } from '../../../schemas/loadSchemas.ts';
import { TOPICS } from '../../../schemas/topics.ts';

/** Every event and every shared part in the public JSON form, as Markdown, from the schemas. */
export function eventsReference(): string {
  const { events, parts } = loadSchemas();
  const topicsOf = (name: string): string =>
    Object.entries(TOPICS)
      .filter(([, topic]) => (topic.carries as readonly string[]).includes(name))
      .map(([topic]) => `\`${topic}\``)
      .join(', ');
  return [
    '## Events',
    ...[...events.values()].map((event) => section(event, `Topic: ${topicsOf(event.name)}.`)),
    '## Parts of events',
    ...[...parts.values()].map((part) => section(part)),
  ].join('\n\n');
}

function section(schema: AvroRecord, note = ''): string {
  const rows = schema.fields.map(
    (field) => `| \`${field.name}\` | ${typeName(field.type)} | ${need(field)} | ${field.doc ?? ''} |`,
  );
  return [
    `### ${schema.name}`,
    '',
    [schema.doc, note].filter((text) => text !== '').join(' '),
    '',
    '| field | type | where absent | meaning |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function need(field: AvroField): string {
  if (!('default' in field)) return 'required';
  return field.default === null ? '' : `\`${JSON.stringify(field.default)}\``;
}

const NAMES: Readonly<Record<string, string>> = { bytes: 'base64 text', double: 'number', float: 'number' };

function typeName(type: AvroType): string {
  if (typeof type === 'string')
    return /^[A-Z]/.test(type) ? `[${type}](#${type.toLowerCase()})` : (NAMES[type] ?? type);
  if (Array.isArray(type)) {
    const inner = type.filter((t) => t !== 'null').map(typeName);
    return `${inner.join(' or ')} or null`;
  }
  if ('items' in type) return `list of ${typeName(type.items)}`;
  if ('values' in type) return `map to ${typeName(type.values)}`;
  if ('logicalType' in type) return type.logicalType === 'int32-array' ? 'list of int' : 'list of number';
  return type.name;
}

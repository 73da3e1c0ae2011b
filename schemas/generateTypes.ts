import type { AvroRecord, AvroType, SchemaSet } from './loadSchemas.ts';

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  float: 'number',
  double: 'number',
  bytes: 'Uint8Array',
  null: 'null',
};

/**
 * TypeScript source of all event types, from the schemas. Nullable Avro fields become `T | null`;
 * packed arrays become `Int32Array` and `Float32Array`.
 */
export function generateTypes(set: SchemaSet): string {
  const blocks = [
    '// Generated from schemas/*.avsc by `npm run generate`; do not edit.',
    ...[...set.parts.values()].map((part) => block(part, false)),
    ...[...set.events.values()].map((event) => block(event, true)),
    `/** Every event of the log. */\nexport type EspalierEvent =\n${[...set.events.keys()].map((n) => `  | ${n}`).join('\n')};`,
    `/** The name of an event. */\nexport type EventType = EspalierEvent['type'];`,
    `/** All event names, in alphabetical order. */\nexport const EVENT_TYPES = [\n${[...set.events.keys()].map((n) => `  '${n}',`).join('\n')}\n] as const satisfies readonly EventType[];`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

function block(schema: AvroRecord, tagged: boolean): string {
  const lines = schema.fields.map((field) => {
    const doc = field.doc === undefined ? '' : `  /** ${field.doc} */\n`;
    return `${doc}  readonly ${field.name}: ${typeText(field.type)};`;
  });
  const tag = tagged ? [`  readonly type: '${schema.name}';`] : [];
  return `/** ${schema.doc} */\nexport interface ${schema.name} {\n${[...tag, ...lines].join('\n')}\n}`;
}

function typeText(type: AvroType): string {
  if (typeof type === 'string') return PRIMITIVES[type] ?? type;
  if (Array.isArray(type)) {
    const rest = type.filter((t) => t !== 'null').map(typeText);
    return [...rest, 'null'].join(' | ');
  }
  if ('items' in type) return `readonly ${typeText(type.items)}[]`;
  if ('values' in type) return `Readonly<Record<string, ${typeText(type.values)}>>`;
  if ('logicalType' in type) return type.logicalType === 'int32-array' ? 'Int32Array' : 'Float32Array';
  throw new Error(`no TypeScript type for ${JSON.stringify(type)}`);
}

// What other programs may import as `espalier/schemas`.
export { ERRORS, type ErrorCode, EspalierError } from './errors.ts';
export { type EventJson, eventJson } from './eventJson.ts';
export * from './generated/events.ts';
export { batchIdOf, groupIdOf, rolloutIdOf } from './ids.ts';
export { loadSchemas, type SchemaSet, standaloneSchema } from './loadSchemas.ts';
export { partitionOf } from './partitionOf.ts';
export { defaultRunConfig, type RunConfig, runConfigSchema, SETTINGS } from './runConfig.ts';
export { keyOf, TOPIC_NAMES, TOPICS, type Topic } from './topics.ts';

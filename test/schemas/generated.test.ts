import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generateTypes } from '../../schemas/generateTypes.ts';
import { loadSchemas } from '../../schemas/loadSchemas.ts';
import { TOPICS } from '../../schemas/topics.ts';

test('the generated types are those of the schemas', () => {
  const committed = readFileSync(new URL('../../schemas/generated/events.ts', import.meta.url), 'utf8');
  expect(committed).toBe(generateTypes(loadSchemas()));
});

test('every event has a topic, and every topic carries known events', () => {
  const carried = new Set<string>(Object.values(TOPICS).flatMap((t) => t.carries));
  expect([...carried].sort()).toEqual([...loadSchemas().events.keys()].sort());
});

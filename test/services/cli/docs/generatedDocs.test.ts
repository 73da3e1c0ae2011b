import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GENERATED_DOCS, withGeneratedPart } from '../../../../services/cli/docs/generatedDocs.ts';

test.each(Object.keys(GENERATED_DOCS))('docs/%s is up to date (npm run docs)', (name) => {
  const page = readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');
  expect(page).toBe(withGeneratedPart(page, GENERATED_DOCS[name]?.() ?? ''));
});

test('a page without marks is refused', () => {
  expect(() => withGeneratedPart('# Page', 'text')).toThrow('no place');
});

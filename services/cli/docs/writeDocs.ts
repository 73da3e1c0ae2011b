import { readFileSync, writeFileSync } from 'node:fs';
import { GENERATED_DOCS, withGeneratedPart } from './generatedDocs.ts';

// `npm run docs`: a test fails when the result differs from what is committed.
for (const [name, make] of Object.entries(GENERATED_DOCS)) {
  const file = new URL(`../../../docs/${name}`, import.meta.url);
  writeFileSync(file, withGeneratedPart(readFileSync(file, 'utf8'), make()));
}

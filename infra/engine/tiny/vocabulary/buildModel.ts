// Writes the tiny model's directory: `npx tsx infra/engine/tiny/vocabulary/buildModel.ts`. Run it after a change
// of corpus, template or merge count; a test checks that the committed files are what it makes.
import { writeFileSync } from 'node:fs';
import { modelFiles } from './modelFiles.ts';

for (const [name, text] of Object.entries(modelFiles())) {
  writeFileSync(new URL(`../model/${name}`, import.meta.url), text);
}

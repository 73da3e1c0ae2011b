// Second half of `npm run build`: what the compiler leaves out and the program reads by its own place,
// such as schemas, DDL, the tiny model and the plain JavaScript harnesses, goes to the same place in dist/.
import { cpSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COPIED = /\.(avsc|sql|json|js)$/;
// The entry runs dist/ from outside of it, and this file runs only in a checkout.
const LEFT = new Set(['services/cli/espalier.js', 'infra/package/copyAssets.js']);

for (const part of ['schemas', 'infra', 'services']) {
  for (const entry of readdirSync(join(root, part), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COPIED.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    if (LEFT.has(relative(root, file))) continue;
    cpSync(file, join(root, 'dist', relative(root, file)));
  }
}

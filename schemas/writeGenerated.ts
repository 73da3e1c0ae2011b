import { writeFileSync } from 'node:fs';
import { generateTypes } from './generateTypes.ts';
import { loadSchemas } from './loadSchemas.ts';

// `npm run generate`: a test fails when the result differs from what is committed.
writeFileSync(new URL('generated/events.ts', import.meta.url), generateTypes(loadSchemas()));

#!/usr/bin/env node
// Starts the command line: the built program where it is there (published package), the sources
// through tsx in a checkout. Plain JavaScript, so that it runs before anything is compiled.
import { existsSync } from 'node:fs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`error: Node 20.19 or newer is needed; this is ${process.versions.node}\n`);
  process.exit(3);
}

const built = new URL('../../dist/services/cli/main.js', import.meta.url);
const source = new URL('./main.ts', import.meta.url);

/** In a checkout the sources are newer than any build, so they win where they can be run. */
async function load() {
  if (existsSync(source)) {
    const tsx = await import('tsx/esm/api').catch(() => undefined);
    tsx?.register();
    if (tsx !== undefined || !existsSync(built)) return import(source.href);
  }
  return import(built.href);
}

const { main } = await load();
process.exitCode = await main();

import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { shellBlocks } from '../support/shellBlocks.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

// The commands of the newcomer docs, block by block, in one folder with one data folder: what a
// reader types, in the order of reading.
const PAGES = ['quickstart', 'concepts', 'tasks', 'harnesses', 'configuration', 'sql'];

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = temporaryFolder();
// Several thousand files; a busy disk needs its time.
afterAll(() => folder.remove(), 60_000);

symlinkSync(join(root, 'docs'), join(folder.path, 'docs'));
// In a checkout `npx espalier` is the program itself; this spares npm's start.
mkdirSync(join(folder.path, 'bin'));
const npx = join(folder.path, 'bin', 'npx');
writeFileSync(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${root}services/cli/espalier.js" "$@"\n`);
chmodSync(npx, 0o755);

const env: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `${join(folder.path, 'bin')}${delimiter}${process.env.PATH ?? ''}`,
  ESPALIER_DATA_DIR: join(folder.path, 'data'),
};

describe.each(PAGES)('docs/%s.md', (page) => {
  const file = `docs/${page}.md`;
  for (const block of shellBlocks(file, readFileSync(join(root, file), 'utf8'))) {
    const name = `${block.file}:${block.line}: ${block.text.split('\n')[0]}`;
    if (block.skipped) it.skip(`${name} (marked no-run)`, () => {});
    else {
      it(name, async () => {
        const { code, output } = await runShell(block.text);
        expect(code, output).toBe(0);
      });
    }
  }
});

function runShell(text: string): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((done, fail) => {
    const child = spawn('sh', ['-eu', '-c', text], { cwd: folder.path, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    }
    child.on('error', fail);
    child.on('close', (code) => done({ code, output }));
  });
}

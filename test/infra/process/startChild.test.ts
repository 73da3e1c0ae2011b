import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processStart } from '../../../infra/process/processStart.ts';
import { startChild } from '../../../infra/process/startChild.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

describe('child process', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());
  const script = (text: string) => {
    const path = join(folder.path, 'child.mjs');
    writeFileSync(path, text);
    return path;
  };

  it('reports how it ended', async () => {
    const child = await startChild({ script: script('process.exit(Number(process.argv[2]))'), args: ['7'] });
    expect(await child.exited).toEqual({ code: 7, signal: null });
    expect(await child.close()).toEqual({ code: 7, signal: null });
  });

  it('is asked to end, then killed with all that it started', async () => {
    const child = await startChild({
      script: script(`
        import { spawn } from 'node:child_process';
        process.on('SIGTERM', () => {});
        const inner = spawn('sleep', ['1000']);
        process.stdout.write(inner.pid + '\\n');
        setInterval(() => {}, 1000);`),
      output: 'pipe',
    });
    const lines = createInterface({ input: child.process.stdout! });
    const inner = Number(await new Promise((resolve) => lines.once('line', resolve)));
    expect(processStart(inner)).not.toBeNull();
    expect(await child.close(100)).toEqual({ code: null, signal: 'SIGKILL' });
    while (processStart(inner) !== null) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('notices the end of its parent by its standard input', async () => {
    const child = await startChild({
      script: script("process.stdin.on('end', () => process.exit(3)).resume();"),
      output: 'ignore',
    });
    child.process.stdin?.end();
    expect(await child.exited).toEqual({ code: 3, signal: null });
  });
});

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface HarnessRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of the demo harnesses as a child process in `cwd` and waits for its end. */
export function runHarness(
  file: 'alder.js' | 'birch.js',
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<HarnessRun> {
  const program = fileURLToPath(new URL(`../../services/sandbox/harnesses/${file}`, import.meta.url));
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => {
    child.on('close', (exitCode) => resolve({ exitCode, stdout: stdout.trim(), stderr: stderr.trim() }));
  });
}

/** A fresh folder holding the given files; `remove` deletes it. */
export function makeFolder(files: Record<string, string> = {}): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

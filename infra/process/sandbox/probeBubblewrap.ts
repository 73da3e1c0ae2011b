import { spawn } from 'node:child_process';
import { bubblewrapArguments } from './bubblewrapArguments.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';

export interface ProbeResult {
  readonly ok: boolean;
  /** One line: why isolation cannot be used, or the version that can. */
  readonly reason: string;
}

/**
 * Runs a command in bubblewrap with the very namespaces a rollout gets. That it is installed proves nothing:
 * containers and hardened kernels often refuse to make them.
 */
export async function probeBubblewrap(): Promise<ProbeResult> {
  if (process.platform !== 'linux') return { ok: false, reason: 'bubblewrap needs Linux' };
  const args = bubblewrapArguments({ cwd: '/tmp', readOnly: [], writable: [] });
  const probe = await runQuick('bwrap', [...args, '/bin/sh', '-c', 'test ! -e /home && echo contained']);
  if (probe.error !== undefined) return { ok: false, reason: probe.error };
  if (probe.code === 0 && probe.stdout.trim() === 'contained') {
    return { ok: true, reason: (await runQuick('bwrap', ['--version'])).stdout.trim() };
  }
  const said = probe.stderr.trim().split('\n').at(-1);
  return { ok: false, reason: said || `bubblewrap ended with exit code ${probe.code}` };
}

interface QuickResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly error?: string;
}

function runQuick(command: string, args: readonly string[]): Promise<QuickResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: cleanEnvironment('/tmp', 'probe'),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 5_000,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? 'bubblewrap (bwrap) is not installed' : error.message;
      resolve({ code: null, stdout, stderr, error: reason });
    });
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

import { execFile } from 'node:child_process';
import { probeBubblewrap } from '../../../infra/process/sandbox/probeBubblewrap.ts';
import type { CheckResult } from './check.ts';

/** The running Node. The program refuses to start below 20.19, so this reports only. */
export async function checkNode(): Promise<CheckResult> {
  return {
    name: 'node',
    state: 'ok',
    detail: `${process.versions.node} on ${process.platform} ${process.arch}`,
  };
}

/** Whether a contained process can really be started. */
export async function checkIsolation(): Promise<CheckResult> {
  const probe = await probeBubblewrap();
  if (probe.ok) return { name: 'bubblewrap', state: 'ok', detail: probe.reason };
  return {
    name: 'bubblewrap',
    state: 'limited',
    detail: probe.reason,
    fix: 'Demo harnesses run as plain processes with a warning; a real one then needs `--sandbox process`.',
  };
}

/** Python runs the graders of many tasks; Espalier itself needs none. */
export async function checkPython(): Promise<CheckResult> {
  const version = await new Promise<string | undefined>((done) => {
    execFile('python3', ['--version'], { timeout: 5_000 }, (error, stdout) =>
      done(error ? undefined : stdout.trim()),
    );
  });
  if (version !== undefined) return { name: 'python3', state: 'ok', detail: version };
  return {
    name: 'python3',
    state: 'limited',
    detail: 'not found',
    fix: 'Install it if a task is graded by a Python script.',
  };
}

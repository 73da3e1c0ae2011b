import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../services/cli/espalier.js', import.meta.url));

/** Flags of the smallest demo that goes through everything. */
export const SMALL = [
  '--steps',
  '1',
  '--group-size',
  '2',
  '--groups-per-batch',
  '1',
  '--evaluation-tasks',
  '2',
].concat(['--max-turns', '3', '--concurrency', '2']);

/** How a program ended, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program as a process of its own. */
export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when stdout or stderr have said so; rejects when the program ends first. */
  said(text: string): Promise<void>;
}

/** Starts the program; nothing of this process's environment but the path reaches it. */
export function startEspalier(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  const heard = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      for (const check of [...heard]) check();
    });
  }
  // `exit`, not `close`: children of a killed program may hold its streams a little longer.
  const ended = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => setTimeout(() => resolve({ code, signal, ...text }), 50));
  });
  return {
    process: child,
    ended,
    said: (wanted) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!text.stdout.includes(wanted) && !text.stderr.includes(wanted)) return;
          heard.delete(check);
          resolve();
        };
        heard.add(check);
        check();
        void ended.then(() => reject(new Error(`ended before "${wanted}": ${text.stdout}${text.stderr}`)));
      }),
  };
}

/** Runs the program to its end. */
export const runEspalier = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  startEspalier(args, env).ended;

/** A process that belongs to a data folder. */
export interface Relative {
  readonly pid: number;
  readonly command: string;
}

/**
 * Every process whose command, working folder or environment names a folder. Programs started with
 * HOME in that folder hand it on to their children, so none escapes.
 */
export function processesOf(folder: string): Relative[] {
  const found: Relative[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = readOr(() => readFileSync(join('/proc', name, 'cmdline'), 'utf8')).replaceAll('\0', ' ');
    const place = readOr(() => readlinkSync(join('/proc', name, 'cwd')));
    const environment = readOr(() => readFileSync(join('/proc', name, 'environ'), 'utf8'));
    if (command !== '' && [command, place, environment].some((text) => text.includes(folder)))
      found.push({ pid, command });
  }
  return found;
}

/** Waits until no process belongs to a folder; the ones that are left after the time. */
export async function leftAfter(folder: string, ms: number): Promise<Relative[]> {
  for (let waited = 0; ; waited += 100) {
    const left = processesOf(folder);
    if (left.length === 0 || waited >= ms) return left;
    await delay(100);
  }
}

function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { keepTail } from './keepTail.ts';

const tailBytes = 16 * 1024;
const fileBytes = 32 * 2 ** 20;
const drainMs = 1_000;

/**
 * Reads a child's stdout, stderr and the start mark on file descriptor 3. `finish` waits for their ends, but
 * not for ever: a process that escaped may hold them open.
 */
export function collectOutput(child: ChildProcess, stdoutFile: string | undefined) {
  const stdout = keepTail(tailBytes);
  const stderr = keepTail(tailBytes);
  const file = stdoutFile === undefined ? undefined : createWriteStream(stdoutFile);
  let written = 0;
  let fileError: Error | undefined;
  let started = false;
  file?.on('error', (error) => {
    fileError = error;
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout.push(chunk);
    const room = fileBytes - written;
    if (file === undefined || room <= 0 || fileError !== undefined) return;
    file.write(chunk.subarray(0, room));
    written += chunk.length;
    if (written > fileBytes) file.write('\n[cut: more than 32 MiB]\n');
  });
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  const startMark = child.stdio[3] as Readable | null | undefined;
  startMark?.on('data', () => {
    started = true;
  });
  const streams = [child.stdout, child.stderr, startMark].filter(
    (stream) => stream instanceof Object,
  ) as Readable[];
  for (const stream of streams) stream.on('error', () => {});
  const ended = Promise.all(streams.map((stream) => new Promise<void>((end) => stream.on('close', end))));

  return {
    started: () => started,
    stdout: () => stdout.text(),
    stderr: () => stderr.text(),
    async finish(): Promise<void> {
      const timer = setTimeout(() => {
        for (const stream of streams) stream.destroy();
      }, drainMs);
      await ended;
      clearTimeout(timer);
      if (file === undefined) return;
      if (fileError === undefined) await new Promise<void>((end) => file.end(end));
      if (fileError !== undefined) throw fileError;
    },
  };
}

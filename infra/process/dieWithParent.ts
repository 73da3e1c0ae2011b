import { Worker } from 'node:worker_threads';

/** Runs beside the main thread, so it needs neither a loader nor a file of its own. */
const WATCH = `
const { Socket } = require('node:net');
const end = () => process.kill(process.pid, 'SIGKILL');
new Socket({ fd: 0, readable: true, writable: false }).on('end', end).on('error', end).resume();
`;

/**
 * In a child started with a pipe as its standard input, see `startChild`: kills this process when the
 * parent is gone, even while it computes and hears nothing. Unlike `endWithParent` it leaves no time to
 * tidy up, so it is for programs that a power cut does not harm.
 */
export function dieWithParent(): void {
  new Worker(WATCH, { eval: true, execArgv: [] }).unref();
}

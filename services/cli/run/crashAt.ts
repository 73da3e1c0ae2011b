import { CRASH_POINTS, type CrashPoint } from '../../../infra/process/crashPoint.ts';
import { EspalierError } from '../../../schemas/errors.ts';

/**
 * For tests of crashes: `NAME:N` kills this process, as a power cut would, when it passes the crash
 * point NAME for the N-th time. Nothing happens without a text.
 * @throws EspalierError E_USAGE when the text names no crash point
 */
export function crashAt(text: string | undefined): CrashPoint {
  if (text === undefined || text === '') return () => {};
  const [, wanted, count] = /^(.+):(\d+)$/.exec(text) ?? [];
  if (wanted === undefined || !(CRASH_POINTS as readonly string[]).includes(wanted)) {
    throw new EspalierError('E_USAGE', `ESPALIER_CRASH_AT names no crash point: "${text}"`, {
      fix: `Write NAME:N, where NAME is one of ${CRASH_POINTS.join(', ')}.`,
    });
  }
  let left = Number(count);
  return (name) => {
    if (name === wanted && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}

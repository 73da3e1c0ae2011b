import type { ContainmentLimits } from './containment.ts';

/**
 * argv that sets kernel limits in a shell and then becomes the command. It writes one byte to file descriptor
 * 3 first, unless the next program does (`leaveOpen`): a run that never wrote it never started.
 * Memory is bounded by the data segment: V8 reserves far more address space than it uses.
 */
export function limitArguments(
  argv: readonly string[],
  limits: ContainmentLimits,
  leaveOpen: boolean,
): string[] {
  const lines = ['ulimit -c 0 2>/dev/null'];
  if (limits.memoryMb !== undefined) lines.push(`ulimit -d ${Math.ceil(limits.memoryMb * 1024)} 2>/dev/null`);
  if (limits.diskMb !== undefined) lines.push(`ulimit -f ${Math.ceil(limits.diskMb * 2048)} 2>/dev/null`);
  if (!leaveOpen) lines.push('printf s >&3; exec 3>&-');
  return ['/bin/sh', '-c', `${lines.join('; ')}; exec "$@"`, 'sh', ...argv];
}

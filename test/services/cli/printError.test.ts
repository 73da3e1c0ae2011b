import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { EspalierError } from '../../../schemas/errors.ts';
import { printError } from '../../../services/cli/printError.ts';

function told(error: unknown, json = false, stack = false) {
  const text = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text[name] += chunk.toString('utf8');
        done();
      },
    });
  const code = printError(error, { stdout: into('stdout'), stderr: into('stderr'), json, stack });
  return { code, ...text };
}

describe('an error', () => {
  it('is one line of what happened and one of what to do', () => {
    expect(told(new EspalierError('E_SQL', 'no such table', { fix: 'Look again.' }))).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: no such table\nfix: Look again.\n',
    });
  });

  it('is one document with --json', () => {
    const { code, stdout, stderr } = told(new EspalierError('E_INTERRUPTED', 'stopped'), true);
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'E_INTERRUPTED', message: 'stopped' } });
  });

  it.each([
    ['EADDRINUSE', 'E_PORT_IN_USE', 3],
    ['ENOSPC', 'E_DATA_DIR_WRITE', 3],
    ['EROFS', 'E_DATA_DIR_WRITE', 3],
    ['EWHATEVER', 'E_INTERNAL', 1],
  ])('of the operating system, %s, is %s', (system, code, exit) => {
    const result = told(Object.assign(new Error('it failed'), { code: system }), true);
    expect(JSON.parse(result.stdout)).toMatchObject({ error: { code, message: 'it failed' } });
    expect(result.code).toBe(exit);
  });

  it('that nobody foresaw shows its stack when asked to', () => {
    expect(told(new TypeError('x is undefined'), false, true).stderr).toContain(
      'caused by: TypeError: x is undefined',
    );
    expect(told('a text').stderr).toMatch(/^error: a text\n/);
  });
});

import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { makeLogger } from '../../../services/cli/makeLogger.ts';

function collector(): { readonly stream: Writable; readonly text: () => string } {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString('utf8');
      done();
    },
  });
  return { stream, text: () => text };
}

describe('the log', () => {
  it('is readable lines for people', () => {
    const { stream, text } = collector();
    const log = makeLogger(stream, 'info', false);
    log.child({ rolloutId: 'r1' }).warn({ err: new Error('no luck'), n: 3 }, 'it failed');
    log.debug('left out');
    expect(text()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}it failed rolloutId=r1 err=no luck n=3\n$/);
  });

  it('is JSON lines with --json', () => {
    const { stream, text } = collector();
    makeLogger(stream, 'info', true).info({ n: 3 }, 'done');
    expect(JSON.parse(text())).toMatchObject({ msg: 'done', n: 3 });
  });
});

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askOwner, serveOwner } from '../../../infra/process/ownerSocket.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const coded = (code: string) => expect.objectContaining({ code });

describe('owner socket', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let server: Awaited<ReturnType<typeof serveOwner>>;
  let path: string;
  beforeEach(async () => {
    folder = temporaryFolder();
    path = join(folder.path, 's');
    server = await serveOwner(path, {
      echo: async (params) => params,
      nothing: async () => undefined,
      refuse: async () => {
        throw new EspalierError('E_SQL', 'bad statement', { fix: 'mend it' });
      },
      fail: async () => {
        throw new TypeError('oops');
      },
    });
  });
  afterEach(async () => {
    await server.close();
    folder.remove();
  });

  it('answers, large texts with line breaks and many at once included', async () => {
    const big = { text: 'ü\n'.repeat(500_000) };
    const asked = [big, 1, null, ['a']].map((value) => askOwner(path, 'echo', value));
    expect(await Promise.all(asked)).toEqual([big, 1, null, ['a']]);
    expect(await askOwner(path, 'nothing')).toBeNull();
  });

  it('hands errors on with code and fix', async () => {
    await expect(askOwner(path, 'refuse')).rejects.toMatchObject({
      code: 'E_SQL',
      message: 'bad statement',
      fix: 'mend it',
    });
    await expect(askOwner(path, 'fail')).rejects.toThrow('oops');
    for (const method of ['unknown', 'constructor', 'toString']) {
      await expect(askOwner(path, method)).rejects.toThrow(coded('E_USAGE'));
    }
  });

  it('is for the same user only', () => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('says when the owner is gone', async () => {
    await server.close();
    await expect(askOwner(path, 'echo')).rejects.toThrow(coded('E_DATA_DIR_OWNED'));
  });
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { directoryBlobs } from '../../infra/blobs/directoryBlobs.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { testBlobs } from './blobs.features.ts';

testBlobs('directory', async () => {
  const folder = temporaryFolder();
  return {
    blobs: directoryBlobs(folder.path),
    async damage(sha256) {
      const path = join(folder.path, sha256.slice(0, 2), sha256);
      writeFileSync(
        path,
        readFileSync(path).map((byte) => byte ^ 1),
      );
    },
    dispose: async () => folder.remove(),
  };
});

it('directory blobs leave no temporary files and say when they cannot write', async () => {
  const folder = temporaryFolder();
  await directoryBlobs(folder.path).put(Uint8Array.of(1));
  const files = readdirSync(folder.path, { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => file.endsWith('.tmp'))).toEqual([]);
  writeFileSync(join(folder.path, 'file'), '');
  await expect(directoryBlobs(join(folder.path, 'file')).put(Uint8Array.of(1))).rejects.toThrow(
    expect.objectContaining({ code: 'E_DATA_DIR_WRITE' }),
  );
  folder.remove();
});

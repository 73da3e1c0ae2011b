import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EspalierError } from '../../schemas/errors.ts';
import type { BlobRef } from '../../schemas/generated/events.ts';
import { dataDirWriteError } from '../process/ensureWritable.ts';
import type { Blobs } from './blobs.ts';

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Blobs as files `<dir>/<first two digits>/<sha256>`. A file gets its name only when its bytes are
 * on disk, so a name that exists is whole; reading checks the digest all the same.
 */
export function directoryBlobs(dir: string): Blobs {
  const pathOf = (sha256: string) => join(dir, sha256.slice(0, 2), sha256);
  return {
    async put(bytes) {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const path = pathOf(sha256);
      const ref = { uri: `blob:${sha256}`, sha256 };
      // Compared, not believed: putting the bytes again mends a damaged file.
      const present = await readFile(path).catch(() => null);
      if (present?.equals(bytes)) return ref;
      const temporary = `${path}.${randomUUID()}.tmp`;
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeSynced(temporary, bytes);
        await rename(temporary, path);
        await syncFolder(dirname(path));
      } catch (cause) {
        await rm(temporary, { force: true }).catch(() => {});
        throw dataDirWriteError(dir, cause);
      }
      return ref;
    },

    async get(ref: BlobRef) {
      if (!SHA256.test(ref.sha256))
        throw new EspalierError('E_BLOB_MISSING', `no blob is named ${ref.sha256}`);
      const bytes = await readFile(pathOf(ref.sha256)).catch((cause) => {
        throw new EspalierError('E_BLOB_MISSING', `blob ${ref.sha256} is not in ${dir}`, { cause });
      });
      if (createHash('sha256').update(bytes).digest('hex') !== ref.sha256) {
        throw new EspalierError('E_BLOB_CORRUPT', `the bytes of blob ${ref.sha256} are not those stored`);
      }
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
  };
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A rename is durable when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

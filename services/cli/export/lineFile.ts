import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { EspalierError } from '../../../schemas/errors.ts';

/** A file of lines that is there under its name only when it is whole. */
export interface LineFile {
  write(line: string): Promise<void>;
  /** Flushes and gives the file its name. */
  finish(): Promise<void>;
  /** Leaves nothing behind under the name. */
  abandon(): void;
}

/** @throws EspalierError E_USAGE where the file cannot be made */
export async function openLineFile(path: string): Promise<LineFile> {
  const part = `${path}.part`;
  const stream = createWriteStream(part);
  try {
    await once(stream, 'open');
  } catch (cause) {
    throw new EspalierError('E_USAGE', `cannot write ${path}: ${(cause as Error).message}`, {
      cause,
      fix: 'Give a file in a folder that exists and can be written.',
    });
  }
  return {
    async write(line) {
      if (!stream.write(`${line}\n`)) await once(stream, 'drain');
    },
    async finish() {
      stream.end();
      await finished(stream);
      await rename(part, path);
    },
    abandon: () => stream.destroy(),
  };
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataFolderPaths, openDataFolder } from '../../../infra/process/dataFolder.ts';
import { claimFolder, findOwner } from '../../../infra/process/ownerFile.ts';
import { processStart } from '../../../infra/process/processStart.ts';
import { startChild } from '../../../infra/process/startChild.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const coded = (code: string) => expect.objectContaining({ code });

describe('data folder', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());
  const ownerFile = () => join(folder.path, 'owner.json');

  it('is made with a version, owned while open and free afterwards', () => {
    const dir = join(folder.path, 'a', 'b');
    const opened = openDataFolder(dir);
    expect(JSON.parse(readFileSync(join(dir, 'format.json'), 'utf8'))).toEqual({ version: 1 });
    expect(findOwner(dir)).toMatchObject({ pid: process.pid, socket: opened.socket });
    expect(() => openDataFolder(dir)).toThrow(coded('E_DATA_DIR_OWNED'));
    opened.close();
    expect(findOwner(dir)).toBeNull();
    openDataFolder(dir).close();
  });

  it('refuses a folder of another version, or one it cannot read', () => {
    for (const text of ['{"version":99}', 'nonsense', '{}']) {
      writeFileSync(join(folder.path, 'format.json'), text);
      expect(() => openDataFolder(folder.path)).toThrow(coded('E_DATA_DIR_VERSION'));
    }
    expect(existsSync(ownerFile())).toBe(false);
  });

  it('says when it cannot write', () => {
    writeFileSync(join(folder.path, 'file'), '');
    expect(() => openDataFolder(join(folder.path, 'file', 'x'))).toThrow(coded('E_DATA_DIR_WRITE'));
  });

  it('takes over from an owner that is gone, even if its process id is in use again', () => {
    const start = processStart(process.pid);
    const gone = [
      { pid: 2 ** 22 - 1, startTime: 'x', socket: '' },
      { pid: process.pid, startTime: `${start}0`, socket: '' },
      'damaged',
    ];
    for (const owner of gone) {
      writeFileSync(ownerFile(), JSON.stringify(owner));
      expect(findOwner(folder.path)).toBeNull();
      openDataFolder(folder.path).close();
    }
  });

  it('takes over from an owner that was killed', async () => {
    const script = join(folder.path, 'sleep.mjs');
    writeFileSync(script, 'setInterval(() => {}, 1000);');
    const child = await startChild({ script, output: 'ignore' });
    writeFileSync(
      ownerFile(),
      JSON.stringify({ pid: child.pid, startTime: processStart(child.pid), socket: '' }),
    );
    expect(() => openDataFolder(folder.path)).toThrow(coded('E_DATA_DIR_OWNED'));
    process.kill(child.pid, 'SIGKILL');
    await child.exited;
    openDataFolder(folder.path).close();
  });

  it('does not give up what is no longer its own', () => {
    const release = claimFolder(folder.path, 's');
    const other = { pid: 1, startTime: processStart(1) ?? 'other', socket: '' };
    writeFileSync(ownerFile(), JSON.stringify(other));
    release();
    expect(existsSync(ownerFile())).toBe(true);
  });

  it('keeps the socket path short enough, wherever the folder is', () => {
    const deep = join(folder.path, 'x'.repeat(120));
    mkdirSync(deep);
    for (const dir of [folder.path, deep]) {
      expect(Buffer.byteLength(dataFolderPaths(dir).socket)).toBeLessThan(104);
    }
    expect(dataFolderPaths(deep).socket).not.toBe(dataFolderPaths(folder.path).socket);
  });
});

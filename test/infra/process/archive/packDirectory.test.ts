import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type ArchiveEntry, findLinkProblem } from '../../../../infra/process/archive/archiveEntry.ts';
import { packDirectory } from '../../../../infra/process/archive/packDirectory.ts';
import { decodeTar, encodeTar } from '../../../../infra/process/archive/tarFormat.ts';
import { unpackArchive } from '../../../../infra/process/archive/unpackArchive.ts';
import { makeFolder } from '../../../support/runHarness.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function fresh(files: Record<string, string> = {}): string {
  const folder = makeFolder(files);
  cleanups.push(folder.remove);
  return folder.path;
}

function describeTree(root: string, at = ''): string[] {
  return readdirSync(join(root, at))
    .sort()
    .flatMap((name) => {
      const path = join(at, name);
      const stats = lstatSync(join(root, path));
      if (stats.isDirectory()) return [`${path}/`, ...describeTree(root, path)];
      if (stats.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(root, path))}`];
      return [`${path} ${(stats.mode & 0o100) !== 0} ${readFileSync(join(root, path)).toString('hex')}`];
    });
}

const part = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .map((text) => text.replaceAll(/[/\0\\]/g, '_'))
  .filter(
    (text) => text !== '.' && text !== '..' && !/\p{Surrogate}/u.test(text) && Buffer.byteLength(text) < 200,
  );
const file = fc.record({
  path: fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.map((p, at) => `${at}${p}`).join('/')),
  bytes: fc.uint8Array({ maxLength: 1_500 }),
  executable: fc.boolean(),
});

describe('archives', () => {
  it('round-trips any tree, and packs it to the same bytes again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 6 }), async (files) => {
        const from = fresh();
        for (const { path, bytes, executable } of files) {
          const full = join(from, path);
          try {
            mkdirSync(dirname(full), { recursive: true });
            writeFileSync(full, bytes, { mode: executable ? 0o755 : 0o644, flag: 'wx' });
          } catch {
            // two generated paths are in each other's way
          }
        }
        symlinkSync('0', join(from, 'link'));
        const to = join(fresh(), 'new');
        const packed = await packDirectory(from);
        await unpackArchive(packed.bytes, to);
        expect(packed.skipped).toEqual([]);
        expect(describeTree(to)).toEqual(describeTree(from));
        expect(Buffer.compare((await packDirectory(to)).bytes, packed.bytes)).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('is read by the system tar', async () => {
    const from = fresh({ 'a.txt': 'hello' });
    const long = `${'d'.repeat(90)}/${'é'.repeat(60)}`;
    mkdirSync(join(from, dirname(long)));
    writeFileSync(join(from, long), 'deep');
    writeFileSync(join(from, 'a.tar'), (await packDirectory(from)).bytes);
    const to = fresh();
    execFileSync('tar', ['-xf', join(from, 'a.tar'), '-C', to]);
    expect(readFileSync(join(to, long), 'utf8')).toBe('deep');
    expect(readFileSync(join(to, 'a.txt'), 'utf8')).toBe('hello');
  });

  it('leaves out and lists what could escape or cannot be packed', async () => {
    const from = fresh({ kept: 'x' });
    mkdirSync(join(from, 'sub'));
    symlinkSync('/etc/passwd', join(from, 'absolute'));
    symlinkSync('../../etc', join(from, 'sub/out'));
    symlinkSync('../kept', join(from, 'sub/in'));
    execFileSync('mkfifo', [join(from, 'pipe')]);
    const packed = await packDirectory(from);
    expect(packed.skipped).toEqual([
      { path: 'absolute', reason: 'its target is absolute' },
      { path: 'pipe', reason: 'it is no file, directory or link' },
      { path: 'sub/out', reason: 'its target leaves the folder' },
    ]);
    expect(decodeTar(packed.bytes).map((entry) => entry.path)).toEqual(['kept', 'sub', 'sub/in']);
  });

  it('reads what the agent made unreadable', async () => {
    const from = fresh({ 'a.txt': 'hello' });
    chmodSync(join(from, 'a.txt'), 0);
    expect(decodeTar((await packDirectory(from)).bytes)).toHaveLength(1);
  });

  it('refuses too much content with a clear error', async () => {
    const from = fresh({ a: 'x'.repeat(2_000) });
    await expect(packDirectory(from, 1_999)).rejects.toMatchObject({
      code: 'E_WORKSPACE',
      message: expect.stringContaining('more than 1999 bytes'),
    });
  });

  it('knows which links stay inside', () => {
    expect(findLinkProblem('a/b', '../c')).toBeUndefined();
    expect(findLinkProblem('a', './c/d')).toBeUndefined();
    expect(findLinkProblem('a', '..')).toContain('leaves');
    // `d -> .` and `l -> d/..` together would leave
    expect(findLinkProblem('l', 'd/..')).toContain('climbs');
  });

  it('writes nothing of an archive with a bad entry', async () => {
    const good: ArchiveEntry = { kind: 'file', path: 'good', executable: false, bytes: new Uint8Array(3) };
    const bad: ArchiveEntry[][] = [
      [{ kind: 'file', path: '../x', executable: false, bytes: new Uint8Array() }],
      [{ kind: 'directory', path: '/abs' }],
      [{ kind: 'symlink', path: 'l', target: '/etc' }],
      [
        { kind: 'symlink', path: 'l', target: '.' },
        { ...good, path: 'l/x' },
      ],
      [{ ...good }],
    ];
    for (const entries of bad) {
      const to = join(fresh(), 'new');
      await expect(unpackArchive(encodeTar([good, ...entries]), to)).rejects.toMatchObject({
        code: 'E_WORKSPACE',
      });
      expect(() => lstatSync(to)).toThrow();
    }
  });

  it('names a damaged archive', async () => {
    const { bytes } = await packDirectory(fresh({ a: 'hello' }));
    const flipped = Uint8Array.from(bytes);
    flipped[3] = 7;
    for (const damaged of [flipped, bytes.subarray(0, 700), new Uint8Array(10)]) {
      await expect(unpackArchive(damaged, join(fresh(), 'new'))).rejects.toMatchObject({
        code: 'E_WORKSPACE',
      });
    }
  });
});

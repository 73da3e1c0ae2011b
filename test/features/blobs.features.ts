import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Blobs } from '../../infra/blobs/blobs.ts';

/** A blob store and a way to damage what it holds. */
export interface BlobsFixture {
  readonly blobs: Blobs;
  damage(sha256: string): Promise<void>;
  dispose(): Promise<void>;
}

const coded = (code: string) => expect.objectContaining({ code });
const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

/** What every blob store must do, run against each adapter. */
export function testBlobs(name: string, createFixture: () => Promise<BlobsFixture>): void {
  describe(`blobs: ${name}`, () => {
    let fixture: BlobsFixture;
    beforeEach(async () => {
      fixture = await createFixture();
    });
    afterEach(() => fixture.dispose());

    it('gives back the bytes, named by their digest', async () => {
      const ref = await fixture.blobs.put(new TextEncoder().encode('abc'));
      expect(ref.sha256).toBe(ABC);
      expect(await fixture.blobs.get(ref)).toEqual(new TextEncoder().encode('abc'));
    });

    it('keeps empty and large blobs, and many at once', async () => {
      const all = [
        new Uint8Array(0),
        new Uint8Array(5_000_000).fill(7),
        ...Array.from({ length: 20 }, (_, i) => Uint8Array.of(i)),
      ];
      const refs = await Promise.all(all.map((bytes) => fixture.blobs.put(bytes)));
      for (const [i, ref] of refs.entries())
        expect(Buffer.from(await fixture.blobs.get(ref)).equals(all[i]!)).toBe(true);
    });

    it('takes the same bytes twice, at once or later', async () => {
      const bytes = Uint8Array.of(1, 2, 3);
      const refs = await Promise.all([1, 2, 3].map(() => fixture.blobs.put(bytes)));
      refs.push(await fixture.blobs.put(bytes));
      expect(new Set(refs.map((ref) => ref.sha256)).size).toBe(1);
      expect(await fixture.blobs.get(refs[0]!)).toEqual(bytes);
    });

    it('says what is missing, and believes no name', async () => {
      const missing = { uri: `blob:${ABC}`, sha256: ABC };
      await expect(fixture.blobs.get(missing)).rejects.toThrow(coded('E_BLOB_MISSING'));
      const outside = { uri: 'blob:x', sha256: '../../etc/passwd' };
      await expect(fixture.blobs.get(outside)).rejects.toThrow(coded('E_BLOB_MISSING'));
    });

    it('never gives damaged bytes, and is mended by putting them again', async () => {
      const bytes = new TextEncoder().encode('abc');
      const ref = await fixture.blobs.put(bytes);
      await fixture.damage(ref.sha256);
      await expect(fixture.blobs.get(ref)).rejects.toThrow(coded('E_BLOB_CORRUPT'));
      await fixture.blobs.put(bytes);
      expect(await fixture.blobs.get(ref)).toEqual(bytes);
    });
  });
}

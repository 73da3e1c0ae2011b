import type { BlobRef } from '../../schemas/generated/events.ts';

/** Content-addressed store for what is too large for an event: workspaces, tasks, weights. */
export interface Blobs {
  /** Stores bytes durably and names them by their SHA-256; storing the same bytes twice is harmless. */
  put(bytes: Uint8Array): Promise<BlobRef>;
  /** @throws EspalierError E_BLOB_MISSING, E_BLOB_CORRUPT */
  get(ref: BlobRef): Promise<Uint8Array>;
}

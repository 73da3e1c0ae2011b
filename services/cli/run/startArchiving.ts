import type { Logger } from 'pino';
import type { CrashPoint } from '../../../infra/process/crashPoint.ts';
import { serveOwner } from '../../../infra/process/ownerSocket.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import type { Store } from '../../embedded.ts';

/** The archive of a run at work, or the lack of one. */
export interface Archiving {
  drain(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Archives into chDB where it can be loaded, and answers `espalier sql` meanwhile; elsewhere says once
 * that there is no archive: only `sql` needs it.
 */
export async function startArchiving(
  store: Store,
  logger: Logger,
  crashPoint: CrashPoint = () => {},
): Promise<Archiving> {
  const [{ openChdbWarehouse }, { startArchive }] = await Promise.all([
    import('../../../infra/warehouse/openChdbWarehouse.ts'),
    import('../../archive/startArchive.ts'),
  ]);
  try {
    const warehouse = await openChdbWarehouse(store.folder.warehouse);
    const archive = await startArchive({
      log: store.log,
      warehouse,
      crashPoint,
      onError: (error) => logger.error({ err: error }, 'the archive stopped; it goes on at the next start'),
    });
    const socket = await serveOwner(store.folder.socket, {
      // Other commands cannot open the warehouse beside its owner, so they ask here.
      sql: async (params) => {
        const { sql, timeoutSeconds } = params as { readonly sql: string; readonly timeoutSeconds?: number };
        await archive.drain();
        return await warehouse.query(sql, timeoutSeconds === undefined ? {} : { timeoutSeconds });
      },
    });
    return {
      drain: () => archive.drain(),
      close: async () => {
        await socket.close();
        await archive.close();
        await warehouse.close();
      },
    };
  } catch (error) {
    if (!(error instanceof EspalierError) || error.code !== 'E_CHDB_MISSING') throw error;
    logger.warn(`no archive, so no \`espalier sql\`: ${error.message}. ${error.fix}`);
    const socket = await serveOwner(store.folder.socket, {
      sql: async () => {
        throw error;
      },
    });
    return { drain: async () => {}, close: () => socket.close() };
  }
}

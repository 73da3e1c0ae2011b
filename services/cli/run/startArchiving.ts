import type { Logger } from 'pino';
import type { CrashPoint } from '../../../infra/process/crashPoint.ts';
import { serveOwner } from '../../../infra/process/ownerSocket.ts';
import type { Warehouse } from '../../../infra/warehouse/warehouse.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import type { Archive } from '../../archive/startArchive.ts';
import type { Store } from '../../embedded.ts';

/** The archive of an owned data folder. */
export interface Archiving {
  /** Archives everything that is in the log; where chDB is missing, says so once and does nothing. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

interface Opened {
  readonly warehouse: Warehouse;
  readonly archive: Archive;
}

/**
 * Archives into chDB from the first time it is needed: the first `drain`, or the first `espalier sql`
 * of another terminal, which cannot open the warehouse beside its owner and asks on the socket. Until
 * then chDB is not loaded, since its memory makes every start of a child process slower.
 */
export async function startArchiving(
  store: Store,
  logger: Logger,
  crashPoint: CrashPoint = () => {},
): Promise<Archiving> {
  let opened: Promise<Opened> | undefined;
  const open = (): Promise<Opened> => {
    opened ??= openArchive(store, logger, crashPoint);
    return opened;
  };
  const socket = await serveOwner(store.folder.socket, {
    sql: async (params) => {
      const { sql, timeoutSeconds } = params as { readonly sql: string; readonly timeoutSeconds?: number };
      const { archive, warehouse } = await open();
      await archive.drain();
      return await warehouse.query(sql, timeoutSeconds === undefined ? {} : { timeoutSeconds });
    },
  });
  return {
    async drain() {
      try {
        await (await open()).archive.drain();
      } catch (error) {
        if (!(error instanceof EspalierError) || error.code !== 'E_CHDB_MISSING') throw error;
        logger.warn(`no archive, so no \`espalier sql\`: ${error.message}. ${error.fix}`);
      }
    },
    async close() {
      await socket.close();
      const archive = await opened?.catch(() => undefined);
      await archive?.archive.close();
      await archive?.warehouse.close();
    },
  };
}

async function openArchive(store: Store, logger: Logger, crashPoint: CrashPoint): Promise<Opened> {
  const [{ openChdbWarehouse }, { startArchive }] = await Promise.all([
    import('../../../infra/warehouse/openChdbWarehouse.ts'),
    import('../../archive/startArchive.ts'),
  ]);
  const warehouse = await openChdbWarehouse(store.folder.warehouse);
  const archive = await startArchive({
    log: store.log,
    warehouse,
    crashPoint,
    onError: (error) => logger.error({ err: error }, 'the archive stopped; it goes on at the next start'),
  });
  return { warehouse, archive };
}

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { EspalierError } from '../../schemas/errors.ts';
import { dataDirWriteError, ensureWritable } from './ensureWritable.ts';
import { claimFolder } from './ownerFile.ts';

/** Version of the layout below; a folder of another version is refused. */
export const DATA_FOLDER_VERSION = 1;

/** Longest path of a Unix socket, in bytes, on every platform we run on. */
const SOCKET_PATH_LIMIT = 103;

/** Where things are in a data folder. */
export interface DataFolderPaths {
  readonly dir: string;
  readonly log: string;
  readonly blobs: string;
  readonly warehouse: string;
  readonly models: string;
  /** What was said at the end of each finished run, as JSON. */
  readonly reports: string;
  readonly harnesses: string;
  readonly sandboxes: string;
  /** Key that signs rollout tokens, mode 0600. */
  readonly secret: string;
  /** Socket of the owner. */
  readonly socket: string;
}

/** A data folder owned by this process. */
export interface DataFolder extends DataFolderPaths {
  /** Gives the ownership up. */
  close(): void;
}

/** Paths inside a data folder, whether it exists or not. */
export function dataFolderPaths(dir: string): DataFolderPaths {
  const root = resolve(dir);
  return {
    dir: root,
    log: join(root, 'log'),
    blobs: join(root, 'blobs'),
    warehouse: join(root, 'warehouse'),
    models: join(root, 'models'),
    reports: join(root, 'reports'),
    harnesses: join(root, 'harnesses'),
    sandboxes: join(root, 'sandboxes'),
    secret: join(root, 'secret'),
    socket: socketPath(root),
  };
}

/**
 * Creates or opens a data folder and becomes its owner.
 * @throws EspalierError E_DATA_DIR_WRITE, E_DATA_DIR_VERSION, E_DATA_DIR_OWNED
 */
export function openDataFolder(dir: string): DataFolder {
  ensureWritable(dir);
  checkDataFolder(dir);
  const paths = dataFolderPaths(realpathSync(dir));
  const release = claimFolder(paths.dir, paths.socket);
  rmSync(paths.socket, { force: true });
  const format = join(paths.dir, 'format.json');
  try {
    if (!existsSync(format)) {
      writeFileSync(`${format}.tmp`, `${JSON.stringify({ version: DATA_FOLDER_VERSION })}\n`);
      renameSync(`${format}.tmp`, format);
    }
  } catch (cause) {
    release();
    throw dataDirWriteError(dir, cause);
  }
  return { ...paths, close: release };
}

/**
 * Checks the version of a folder without opening it; a folder without one is new.
 * @throws EspalierError E_DATA_DIR_VERSION
 */
export function checkDataFolder(dir: string): void {
  const format = join(dir, 'format.json');
  if (!existsSync(format)) return;
  let version: unknown;
  try {
    version = (JSON.parse(readFileSync(format, 'utf8')) as { version?: unknown }).version;
  } catch {
    version = 'an unreadable';
  }
  if (version !== DATA_FOLDER_VERSION) {
    const message = `${dir} has version ${version}; this Espalier reads version ${DATA_FOLDER_VERSION}`;
    throw new EspalierError('E_DATA_DIR_VERSION', message);
  }
}

/** Inside the folder where the path is short enough, else in a private folder for temporary files. */
function socketPath(root: string): string {
  const inside = join(root, 'owner.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_LIMIT) return inside;
  const name = `${createHash('sha256').update(root).digest('hex').slice(0, 16)}.sock`;
  const base = join(tmpdir(), `espalier-${userInfo().uid}`);
  const outside =
    Buffer.byteLength(join(base, name)) <= SOCKET_PATH_LIMIT ? base : `/tmp/espalier-${userInfo().uid}`;
  mkdirSync(outside, { recursive: true, mode: 0o700 });
  return join(outside, name);
}

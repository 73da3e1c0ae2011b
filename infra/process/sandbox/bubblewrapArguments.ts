import { existsSync, lstatSync, readlinkSync } from 'node:fs';

const systemRoots = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const systemFiles = ['passwd', 'group', 'nsswitch.conf', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d'];
const systemFolders = ['alternatives', 'ssl', 'pki', 'ca-certificates', 'localtime', 'hosts'];

export interface Mounts {
  readonly cwd: string;
  readonly readOnly: readonly string[];
  readonly writable: readonly string[];
  /** Folder of the model socket; it appears as /run/model. */
  readonly socketDirectory?: string;
}

/**
 * Arguments of bubblewrap up to and including `--`: all namespaces of its own, no network, the system read-only,
 * an empty /tmp, and only the given paths of everything else. It dies with its parent.
 */
export function bubblewrapArguments(mounts: Mounts): string[] {
  const args = ['--unshare-all', '--die-with-parent', '--hostname', 'sandbox', '--ro-bind', '/usr', '/usr'];
  for (const root of systemRoots) {
    if (!existsSync(root)) continue;
    if (lstatSync(root).isSymbolicLink()) args.push('--symlink', readlinkSync(root), root);
    else args.push('--ro-bind', root, root);
  }
  for (const name of [...systemFiles, ...systemFolders]) {
    args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  }
  args.push('--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run', '--dir', '/var/tmp');
  for (const path of mounts.readOnly) args.push('--ro-bind', path, path);
  for (const path of mounts.writable) args.push('--bind', path, path);
  if (mounts.socketDirectory !== undefined) args.push('--ro-bind', mounts.socketDirectory, '/run/model');
  return [...args, '--chdir', mounts.cwd, '--'];
}

/** One thing in an archive. Paths are relative, with `/`, without `.` or `..`. */
export type ArchiveEntry =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly executable: boolean; readonly bytes: Uint8Array }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string };

/** Why a path cannot be part of an archive, or undefined when it can. */
export function findPathProblem(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (path.startsWith('/')) return 'it is absolute';
  if (path.includes('\0')) return 'it holds a zero byte';
  const bad = path.split('/').some((part) => part === '' || part === '.' || part === '..');
  return bad ? 'it has an empty, . or .. part' : undefined;
}

/**
 * Why a symbolic link could lead out of the archive's root, or undefined when it cannot. `..` is allowed at the
 * start of the target only: after a name that is itself a link it would climb from somewhere else.
 */
export function findLinkProblem(path: string, target: string): string | undefined {
  if (target === '') return 'its target is empty';
  if (target.startsWith('/')) return 'its target is absolute';
  if (target.includes('\0')) return 'its target holds a zero byte';
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const climbs = parts.findIndex((part) => part !== '..');
  const ups = climbs < 0 ? parts.length : climbs;
  if (ups > path.split('/').length - 1) return 'its target leaves the folder';
  return parts.indexOf('..', ups) >= 0 ? 'its target climbs after a name' : undefined;
}

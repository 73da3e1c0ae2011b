import { markVariable } from './containment.ts';

/** PATH of a contained run unless the caller gives another. */
export const defaultPath = '/usr/local/bin:/usr/bin:/bin';

/**
 * The environment of a contained run: PATH, HOME, LANG, the mark, and what was given. Nothing of the parent's:
 * keys must not leak, and a variable such as NODE_EXTRA_CA_CERTS triples the start time of a Node program.
 */
export function cleanEnvironment(
  home: string,
  mark: string,
  given: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { PATH: defaultPath, LANG: 'C.UTF-8', ...given, HOME: home, [markVariable]: mark };
}

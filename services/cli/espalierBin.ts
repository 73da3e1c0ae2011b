import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Absolute path of `espalier.js`, through which children of the program are started: it knows
 * whether to run the sources or the build.
 */
export function espalierBin(): string {
  const beside = new URL('./espalier.js', import.meta.url);
  const fromBuild = new URL('../../../services/cli/espalier.js', import.meta.url);
  return fileURLToPath(existsSync(beside) ? beside : fromBuild);
}

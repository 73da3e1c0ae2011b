import { EspalierError } from '../../../schemas/errors.ts';
import { alder } from './alder.ts';
import { birch } from './birch.ts';
import { claudeCode } from './claudeCode.ts';
import { codex } from './codex.ts';
import type { HarnessAdapter } from './harnessAdapter.ts';
import { pi } from './pi.ts';

/** Every known harness, the bundled ones first. */
export const harnessAdapters: readonly HarnessAdapter[] = [alder, birch, claudeCode, codex, pi];

/**
 * The adapter of a harness by its name.
 * @throws EspalierError E_HARNESS_UNKNOWN naming those that are known
 */
export function findAdapter(name: string): HarnessAdapter {
  const found = harnessAdapters.find((adapter) => adapter.name === name);
  if (found !== undefined) return found;
  const known = harnessAdapters.map((adapter) => adapter.name).join(', ');
  throw new EspalierError(
    'E_HARNESS_UNKNOWN',
    `no harness is called ${JSON.stringify(name)}; known: ${known}`,
  );
}

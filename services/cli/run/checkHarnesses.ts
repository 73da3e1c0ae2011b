import { EspalierError } from '../../../schemas/errors.ts';
import { findAdapter } from '../../sandbox/adapters/findAdapter.ts';
import { isInstalled } from '../../sandbox/adapters/installHarness.ts';

/**
 * Checks that every harness of a run is known and installed, before anything is begun: a rollout cannot
 * mend it by trying again.
 * @param folder where harnesses are installed
 * @throws EspalierError E_HARNESS_UNKNOWN, E_HARNESS_MISSING
 */
export function checkHarnesses(names: readonly string[], folder: string): void {
  for (const name of names) {
    const adapter = findAdapter(name);
    if (isInstalled(adapter, folder)) continue;
    throw new EspalierError('E_HARNESS_MISSING', `${name} ${adapter.version} is not installed in ${folder}`, {
      fix: `Run \`espalier harness install ${name}\` with the same --data-dir first.`,
    });
  }
}

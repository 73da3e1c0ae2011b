import type { Isolation } from '../../infra/process/sandbox/containment.ts';
import type { ProbeResult } from '../../infra/process/sandbox/probeBubblewrap.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { HarnessAdapter } from './adapters/harnessAdapter.ts';

export interface ChosenIsolation {
  readonly isolation: Isolation;
  /** One line for the user when the run is less contained than it could be. */
  readonly warning: string | null;
}

/**
 * The isolation of a rollout. Bubblewrap where its probe passes; a plain process when asked for by name, or for a
 * bundled harness, with a warning. A harness from outside is refused instead.
 * @throws EspalierError E_ISOLATION
 */
export function chooseIsolation(
  adapter: Pick<HarnessAdapter, 'name' | 'isolationRequired'>,
  probe: ProbeResult,
  requested?: Isolation,
): ChosenIsolation {
  if (requested === 'process') return { isolation: 'process', warning: null };
  if (probe.ok) return { isolation: 'bubblewrap', warning: null };
  if (requested === 'bubblewrap' || adapter.isolationRequired) {
    throw new EspalierError('E_ISOLATION', `${adapter.name} cannot be isolated here: ${probe.reason}`);
  }
  return {
    isolation: 'process',
    warning: `${adapter.name} runs as a plain process, without isolation: ${probe.reason}`,
  };
}

import { createHash } from 'node:crypto';
import { EspalierError } from '../../schemas/errors.ts';
import type { Engine } from './engine.ts';

/**
 * Several replicas as one engine. A sticky key goes to the replica with the highest hash of (key,
 * replica), so a rollout keeps its prefix cache, and adding or losing a replica moves only the keys
 * that must move. A replica that cannot be reached is passed over for the next one in that order.
 */
export function stickyEngine(replicas: readonly Engine[]): Engine {
  if (replicas.length === 0) throw new EspalierError('E_CONFIG', 'no inference engine is configured');
  if (replicas.length === 1) return replicas[0]!;
  return {
    async generate(request) {
      let failure: unknown;
      for (const at of rankReplicas(request.stickyKey ?? request.requestId, replicas.length)) {
        try {
          return await replicas[at]!.generate(request);
        } catch (error) {
          if (request.signal.aborted || !(error instanceof EspalierError) || error.code !== 'E_ENGINE')
            throw error;
          failure = error;
        }
      }
      throw failure;
    },
    async updateWeights(version, path) {
      await Promise.all(replicas.map((replica) => replica.updateWeights(version, path)));
    },
    async health() {
      const states = await Promise.all(replicas.map((replica) => replica.health()));
      return states.some((healthy) => healthy);
    },
  };
}

/** Replica numbers in the order in which a key prefers them. */
export function rankReplicas(key: string, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
    .map((at) => ({ at, weight: createHash('sha256').update(`${at}:${key}`).digest('hex') }))
    .sort((a, b) => (a.weight < b.weight ? 1 : -1))
    .map((entry) => entry.at);
}

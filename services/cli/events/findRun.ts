import { findId } from './findId.ts';
import { type RecordSource, readRecords } from './readEvents.ts';

/**
 * The run that an id, or its first letters, names.
 * @throws EspalierError E_RUN_UNKNOWN when there is none, or more than one
 */
export async function findRun(log: RecordSource, text: string): Promise<string> {
  const ids = new Set<string>();
  for (const topic of ['scored-groups', 'rollout-requests'] as const) {
    for await (const { headers } of readRecords(log, { topics: [topic] })) {
      if (headers.run === text) return text;
      if (headers.run !== undefined) ids.add(headers.run);
    }
  }
  return findId('run', text, ids);
}

/**
 * The rollout that an id, or its first letters, names.
 * @throws EspalierError E_ROLLOUT_UNKNOWN when there is none, or more than one
 */
export async function findRollout(
  log: RecordSource,
  text: string,
): Promise<{ readonly runId: string; readonly groupId: string; readonly rolloutId: string }> {
  const found = new Map<string, { runId: string; groupId: string }>();
  for await (const { headers } of readRecords(log, { topics: ['rollout-requests', 'rollouts'] })) {
    const { run, group, rollout } = headers;
    if (run === undefined || group === undefined || rollout === undefined) continue;
    if (rollout.startsWith(text)) found.set(rollout, { runId: run, groupId: group });
  }
  const rolloutId = findId('rollout', text, found.keys());
  return { rolloutId, ...(found.get(rolloutId) as { runId: string; groupId: string }) };
}

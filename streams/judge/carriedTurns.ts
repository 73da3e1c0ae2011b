import type { PrefixNode } from '../tree/prefixTree.ts';

/** Sampled ids that must be found in a row before an input is said to carry a turn. */
const RUN = 8;

/**
 * Turns of `others` that a call's new input carries although its token history does not extend them.
 * Attribution decides where there is any; else eight sampled ids in a row, except rows that the thread was
 * given in its first prompt (tool-call syntax shown as an example).
 *
 * @param others earlier calls that are not in the history the call extends
 * @param firstPrompt input ids of the thread's first call
 */
export function carriedTurns(
  node: PrefixNode,
  others: readonly PrefixNode[],
  firstPrompt: Int32Array,
): readonly PrefixNode[] {
  if (others.length === 0) return [];
  const { attribution, newMessages } = node.call;
  if (attribution.length > 0) {
    const named = new Set(attribution.map((entry) => entry.callId));
    return others.filter((turn) => named.has(turn.call.callId));
  }
  if (newMessages.length > 0 && !newMessages.some((message) => message.role === 'assistant')) return [];
  const carried = runsOf(node.envTokenIds);
  const given = runsOf(firstPrompt);
  return others.filter((turn) => {
    const ids = turn.call.sampledTokenIds;
    for (let i = 0; i + RUN <= ids.length; i++) {
      const run = runAt(ids, i);
      if (carried.has(run) && !given.has(run)) return true;
    }
    return false;
  });
}

function runsOf(ids: Int32Array): ReadonlySet<string> {
  const runs = new Set<string>();
  for (let i = 0; i + RUN <= ids.length; i++) runs.add(runAt(ids, i));
  return runs;
}

const runAt = (ids: Int32Array, at: number): string => ids.subarray(at, at + RUN).join();

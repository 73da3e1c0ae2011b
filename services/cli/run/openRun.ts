import { randomBytes } from 'node:crypto';
import type { EventLog } from '../../../infra/log/eventLog.ts';
import { follow } from '../../../infra/log/follow.ts';
import type { RunConfigured } from '../../../schemas/generated/events.ts';
import { sha256Hex } from '../../../schemas/ids.ts';
import type { RunConfig } from '../../../schemas/runConfig.ts';

/** A run to be carried out, and whether it was begun before. */
export interface OpenedRun {
  readonly runId: string;
  readonly resumed: boolean;
}

/**
 * The newest run of the log that has this very configuration and is not over; else a new one, whose
 * first record is its configuration. So the same command on the same data folder goes on where it was.
 *
 * @param reported whether a run that was completed has been told of; without one nobody waits for that
 */
export async function openRun(
  log: EventLog,
  name: string,
  config: RunConfig,
  now: number,
  reported: (runId: string) => boolean = () => true,
): Promise<OpenedRun> {
  const text = canonicalConfig(config);
  const digest = sha256Hex(text);
  const configured: RunConfigured[] = [];
  const ended = new Set<string>();
  const stop = new AbortController();
  await follow({
    log,
    topics: ['scored-groups'],
    signal: stop.signal,
    onEvents: (events) => {
      for (const event of events) {
        if (event.type === 'RunConfigured') configured.push(event);
        if (event.type === 'RunEnded' && (event.reason !== 'completed' || reported(event.runId)))
          ended.add(event.runId);
      }
    },
    onCaughtUp: () => stop.abort(),
  });
  const open = configured
    .filter((c) => c.digest === digest && !ended.has(c.runId) && c.runId.startsWith(`${name}-`))
    .sort((a, b) => b.at - a.at)[0];
  if (open !== undefined) return { runId: open.runId, resumed: true };
  const runId = `${name}-${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '')}-${randomBytes(2).toString('hex')}`;
  await log.append([
    { topic: 'scored-groups', event: { type: 'RunConfigured', runId, config: text, digest, at: now } },
  ]);
  return { runId, resumed: false };
}

/** One text for one configuration: keys in sorted order. */
function canonicalConfig(config: RunConfig): string {
  const entries = Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(entries));
}

import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { EspalierError } from '../../../schemas/errors.ts';
import type { EventJson } from '../../../schemas/eventJson.ts';
import type { EspalierEvent } from '../../../schemas/generated/events.ts';

/**
 * The events of a recording, one JSON object a line.
 * @throws EspalierError E_EVENT_JSON, E_EVENT_UNKNOWN_TYPE naming line and field; E_USAGE where the
 * file cannot be read
 */
export async function readRecording(input: Readable, json: EventJson): Promise<EspalierEvent[]> {
  const events: EspalierEvent[] = [];
  let line = 0;
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line++;
      const event = json.read(text, line);
      if (event !== undefined) events.push(event);
    }
  } catch (cause) {
    if (cause instanceof EspalierError) throw cause;
    throw new EspalierError('E_USAGE', `cannot read the recording: ${(cause as Error).message}`, { cause });
  }
  return events;
}

/**
 * A file of events, opened.
 * @throws EspalierError E_USAGE where it cannot be
 */
export async function openRecording(path: string): Promise<Readable> {
  try {
    const file = await open(path);
    return file.createReadStream();
  } catch (cause) {
    throw new EspalierError('E_USAGE', `cannot read ${path}: ${(cause as Error).message}`, {
      cause,
      fix: 'Give a file of events, one JSON object a line.',
    });
  }
}

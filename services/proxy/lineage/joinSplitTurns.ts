import { assistantMessage } from '../../../schemas/canonical.ts';
import type { Message } from '../../../schemas/generated/events.ts';
import { callIdsKey } from './messageKey.ts';

/**
 * Some harnesses send one turn back as several assistant messages in a row. They are joined where their
 * tool-call ids, in order, are exactly those of a recorded turn and none of them is a turn by itself.
 * @param isTurn whether a recorded turn has these tool-call ids
 */
export function joinSplitTurns(
  messages: readonly Message[],
  isTurn: (idsKey: string) => boolean,
): readonly Message[] {
  const joined: Message[] = [];
  for (let at = 0; at < messages.length; ) {
    let end = at;
    while (messages[end]?.role === 'assistant') end += 1;
    const run = messages.slice(at, Math.max(end, at + 1));
    const whole = run.length > 1 ? joinAll(run) : undefined;
    const alone = run.some((message) => isTurn(callIdsKey(message.toolCalls)));
    if (whole !== undefined && !alone && isTurn(callIdsKey(whole.toolCalls))) joined.push(whole);
    else joined.push(...run);
    at += run.length;
  }
  return joined;
}

function joinAll(run: readonly Message[]): Message {
  const texts = run.map((message) => message.content).filter((text) => text !== '');
  const thoughts = run.flatMap((message) => (message.reasoning === null ? [] : [message.reasoning]));
  return assistantMessage(
    texts.join('\n'),
    run.flatMap((message) => message.toolCalls),
    thoughts.length > 0 ? thoughts.join('\n') : null,
  );
}

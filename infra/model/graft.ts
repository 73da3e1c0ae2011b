import { assistantMessage, textMessage, toolMessage } from '../../schemas/canonical.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { Message, ToolCall } from '../../schemas/generated/events.ts';
import type { ChatTemplate } from './chatTemplate.ts';

const marker = 'espalierstub';
const question = textMessage('user', 'stub');

/**
 * Renders new messages after a stub of a user message and an assistant message with the actual tool
 * calls, with and without them, and subtracts. Whatever the template prints *before* the stub's text
 * may differ between the two (templates drop reasoning blocks of turns that are not the last).
 * @param close what `closeOf` says of the template
 * @returns close of the assistant turn, new messages, generation prompt
 * @throws EspalierError E_TEMPLATE when the two renderings do not agree up to the turn's close
 */
export function graftText(
  template: ChatTemplate,
  close: string,
  toolCalls: readonly ToolCall[],
  messages: readonly Message[],
): string {
  const stub = [question, assistantMessage(marker, toolCalls)];
  const before = template.render(stub, [], false);
  const after = template.render([...stub, ...messages], [], true);
  const [tailBefore, tailAfter] = [fromMarker(before), fromMarker(after)];
  if (!tailAfter.startsWith(tailBefore)) {
    throw new EspalierError(
      'E_TEMPLATE',
      'the chat template prints an assistant turn differently once other messages follow it',
    );
  }
  if (!tailBefore.endsWith(close)) {
    throw new EspalierError('E_TEMPLATE', 'the chat template closes a turn with tool calls in another way');
  }
  return close + tailAfter.slice(tailBefore.length);
}

/** What the template prints after the text of an assistant turn. */
export function closeOf(template: ChatTemplate): string {
  const text = fromMarker(template.render([question, assistantMessage(marker)], [], false));
  return text.slice(marker.length);
}

// A template that prints no text beside tool calls is compared whole.
function fromMarker(text: string): string {
  const at = text.lastIndexOf(marker);
  return at < 0 ? text : text.slice(at);
}

/**
 * Proves at load, for turns with text, one and several tool calls, that a prompt built by grafting
 * ends as the full rendering does, id for id, and that no message is lost.
 * @throws EspalierError E_TEMPLATE with the case that failed
 */
export function selfTest(template: ChatTemplate, encode: (text: string) => Int32Array): void {
  const call = (id: string): ToolCall => ({ id, name: 'probe', arguments: '{"a":"b"}' });
  const cases: readonly { name: string; calls: readonly ToolCall[]; run: readonly Message[] }[] = [
    { name: 'a text turn', calls: [], run: [textMessage('user', 'go on')] },
    { name: 'one tool call', calls: [call('c1')], run: [toolMessage('c1', 'result one', 'probe')] },
    {
      name: 'two tool calls',
      calls: [call('c1'), call('c2')],
      run: [toolMessage('c1', 'result one', 'probe'), toolMessage('c2', 'result two', 'probe')],
    },
    {
      name: 'a tool result and a user message',
      calls: [call('c1')],
      run: [toolMessage('c1', 'result one', 'probe'), textMessage('user', 'go on')],
    },
  ];
  for (const { name, calls, run } of cases) prove(template, encode, name, calls, run);
}

function prove(
  template: ChatTemplate,
  encode: (text: string) => Int32Array,
  name: string,
  calls: readonly ToolCall[],
  run: readonly Message[],
): void {
  try {
    const graft = graftText(template, closeOf(template), calls, run);
    const conversation = [
      textMessage('system', 'rules'),
      textMessage('user', 'task'),
      assistantMessage('reply', calls),
      ...run,
    ];
    const full = template.render(conversation, [], true);
    const lost = run.find((message) => !graft.includes(message.content));
    if (lost !== undefined) throw failed(name, `it loses a ${lost.role} message`);
    if (!full.endsWith(graft)) throw failed(name, 'the full rendering ends otherwise');
    const [whole, tail] = [encode(full), encode(graft)];
    const same = tail.every((id, at) => whole[whole.length - tail.length + at] === id);
    if (!same) throw failed(name, 'its ids merge across the end of the turn');
  } catch (error) {
    if (error instanceof EspalierError && error.code === 'E_TEMPLATE') throw error;
    throw failed(name, error instanceof Error ? error.message : String(error));
  }
}

function failed(name: string, why: string): EspalierError {
  return new EspalierError('E_TEMPLATE', `the chat template failed the self-test for ${name}: ${why}`);
}

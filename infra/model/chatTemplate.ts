import { Template } from '@huggingface/jinja';
import type { ToolDefinition } from '../../schemas/canonical.ts';
import { textMessage } from '../../schemas/canonical.ts';
import { EspalierError } from '../../schemas/errors.ts';
import type { Message } from '../../schemas/generated/events.ts';

/** Canonical messages to the text of a chat template. */
export interface ChatTemplate {
  /** @throws EspalierError E_REQUEST when the template refuses the conversation */
  render(messages: readonly Message[], tools: readonly ToolDefinition[], generationPrompt: boolean): string;
}

/**
 * Compiles a chat template once. `guard` is applied to every text that comes from outside. System
 * messages in mid-conversation stay in place where the template can print them there; else they are
 * written into a user message, at the same place.
 */
export function chatTemplate(
  source: string,
  variables: Readonly<Record<string, unknown>>,
  guard: (text: string) => string,
): ChatTemplate {
  const template = new Template(source);
  const format = (
    messages: readonly Message[],
    tools: readonly ToolDefinition[],
    generationPrompt: boolean,
  ): string =>
    template.render({
      ...variables,
      messages: messages.map((message) => toTemplateMessage(message, guard)),
      ...(tools.length > 0 ? { tools: tools.map((tool) => toTemplateTool(tool, guard)) } : {}),
      add_generation_prompt: generationPrompt,
    });
  const keepsSystem = printsSystemInPlace(format);
  return {
    render(messages, tools, generationPrompt) {
      try {
        return format(keepsSystem ? messages : foldSystem(messages), tools, generationPrompt);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new EspalierError('E_REQUEST', `the chat template refuses this conversation: ${why}`, {
          cause: error,
        });
      }
    },
  };
}

type Format = (
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
  generationPrompt: boolean,
) => string;

function printsSystemInPlace(format: Format): boolean {
  try {
    const text = format(
      [
        textMessage('user', 'probe one'),
        textMessage('system', 'probe two'),
        textMessage('user', 'probe three'),
      ],
      [],
      true,
    );
    const places = ['probe one', 'probe two', 'probe three'].map((word) => text.indexOf(word));
    return places.every((place, at) => place >= 0 && (at === 0 || place > places[at - 1]!));
  } catch {
    return false;
  }
}

function foldSystem(messages: readonly Message[]): readonly Message[] {
  const firstOther = messages.findIndex((message) => message.role !== 'system');
  return messages.map((message, at) =>
    message.role === 'system' && firstOther >= 0 && at > firstOther
      ? textMessage('user', `<system>\n${message.content}\n</system>`)
      : message,
  );
}

function toTemplateMessage(message: Message, guard: (text: string) => string): object {
  return {
    role: message.role,
    content: guard(message.content),
    ...(message.reasoning === null ? {} : { reasoning_content: guard(message.reasoning) }),
    ...(message.toolCalls.length === 0
      ? {}
      : {
          tool_calls: message.toolCalls.map((call) => ({
            id: guard(call.id),
            type: 'function',
            function: { name: guard(call.name), arguments: guardValue(parseObject(call.arguments), guard) },
          })),
        }),
    ...(message.toolCallId === null ? {} : { tool_call_id: guard(message.toolCallId) }),
    ...(message.name === null ? {} : { name: guard(message.name) }),
  };
}

function toTemplateTool(tool: ToolDefinition, guard: (text: string) => string): object {
  return {
    type: 'function',
    function: guardValue(
      { name: tool.name, description: tool.description, parameters: tool.parameters },
      guard,
    ),
  };
}

// Templates differ in whether they want arguments as an object; text that is no object stays text.
function parseObject(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : json;
  } catch {
    return json;
  }
}

function guardValue(value: unknown, guard: (text: string) => string): unknown {
  if (typeof value === 'string') return guard(value);
  if (Array.isArray(value)) return value.map((inner) => guardValue(inner, guard));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).map(([key, inner]) => [
      guard(key),
      guardValue(inner, guard),
    ]),
  );
}

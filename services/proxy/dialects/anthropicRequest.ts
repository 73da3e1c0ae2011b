import {
  assistantMessage,
  type ToolDefinition,
  textMessage,
  toolMessage,
} from '../../../schemas/canonical.ts';
import type { Message, ToolCall } from '../../../schemas/generated/events.ts';
import type { CanonicalRequest } from '../lineage/canonicalRequest.ts';
import {
  countAt,
  type Fields,
  joinParts,
  listAt,
  objectAt,
  pick,
  placeholder,
  refuse,
  textAt,
} from './readFields.ts';

// Constant for one prompt, another for the next: it would break every prefix, and it is no instruction.
const billingLine = /^x-anthropic-billing-header/u;
const samplingFields = [
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'tool_choice',
  'thinking',
];

/** Reads an Anthropic Messages request. @throws EspalierError E_REQUEST */
export function readAnthropicRequest(body: unknown): CanonicalRequest {
  const request = objectAt(body, 'the request');
  const given = listAt(request.messages, 'messages');
  if (given.length === 0) throw refuse('messages must not be empty');
  const names = new Map<string, string>();
  const all = given.flatMap((message, at) => readMessage(message, `messages.${at}`, names));
  const leading = all.findIndex((message) => message.role !== 'system');
  const opening = leading < 0 ? all : all.slice(0, leading);
  const messages = leading < 0 ? [] : all.slice(leading);
  if (messages.length === 0) throw refuse('messages must hold a user message');
  return {
    model: typeof request.model === 'string' ? request.model : 'policy',
    system: joinParts([...readSystem(request.system), ...opening.map((message) => message.content)]),
    tools: listAt(request.tools, 'tools').map((tool, at) => readTool(tool, `tools.${at}`)),
    messages,
    stream: request.stream === true,
    includeUsage: true,
    maxTokens: countAt(request.max_tokens, 'max_tokens'),
    stopStrings: listAt(request.stop_sequences, 'stop_sequences').map((stop, at) =>
      textAt(stop, `stop_sequences.${at}`),
    ),
    notes: readNotes(request),
    requestedSampling: pick(request, [...samplingFields, 'output_config']),
  };
}

function readSystem(system: unknown): readonly string[] {
  if (system === undefined || system === null) return [];
  const parts = typeof system === 'string' ? [system] : listAt(system, 'system').map(systemText);
  return parts.filter((text) => !billingLine.test(text));
}

function systemText(block: unknown, at: number): string {
  const fields = objectAt(block, `system.${at}`);
  if (fields.type !== 'text')
    throw refuse(`system.${at}: blocks of type ${String(fields.type)} are not supported`);
  return textAt(fields.text, `system.${at}.text`);
}

function readTool(tool: unknown, path: string): ToolDefinition {
  const fields = objectAt(tool, path);
  const name = textAt(fields.name, `${path}.name`);
  if (fields.input_schema === undefined) {
    throw refuse(`${path}: server tools such as ${String(fields.type ?? name)} are not supported`);
  }
  const description = typeof fields.description === 'string' ? fields.description : '';
  return { name, description, parameters: fields.input_schema };
}

function readMessage(value: unknown, path: string, names: Map<string, string>): readonly Message[] {
  const { role, content } = objectAt(value, path);
  const blocks: readonly unknown[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : listAt(content, `${path}.content`);
  if (role === 'assistant') return [readAssistant(blocks, path, names)];
  if (role !== 'user' && role !== 'system') throw refuse(`${path}.role ${String(role)} is not supported`);
  const messages: Message[] = [];
  let parts: string[] = [];
  const flush = (): void => {
    const text = joinParts(parts);
    // Blank or empty text is no message, except where it is all that the harness said.
    if (text !== '') messages.push(textMessage(role, text));
    parts = [];
  };
  for (const [at, block] of blocks.entries()) {
    const fields = objectAt(block, `${path}.content.${at}`);
    if (fields.type !== 'tool_result') parts.push(readPart(fields, `${path}.content.${at}`));
    else {
      flush();
      messages.push(readToolResult(fields, `${path}.content.${at}`, names));
    }
  }
  flush();
  if (messages.length === 0 && role === 'user') return [textMessage('user', '')];
  return messages;
}

function readAssistant(blocks: readonly unknown[], path: string, names: Map<string, string>): Message {
  const parts: string[] = [];
  const reasoning: string[] = [];
  const calls: ToolCall[] = [];
  for (const [at, block] of blocks.entries()) {
    const fields = objectAt(block, `${path}.content.${at}`);
    if (fields.type === 'thinking') reasoning.push(textAt(fields.thinking, `${path}.content.${at}.thinking`));
    else if (fields.type === 'redacted_thinking') reasoning.push('[redacted]');
    else if (fields.type === 'tool_use') {
      const id = textAt(fields.id, `${path}.content.${at}.id`);
      const name = textAt(fields.name, `${path}.content.${at}.name`);
      names.set(id, name);
      calls.push({ id, name, arguments: JSON.stringify(fields.input ?? {}) });
    } else parts.push(readPart(fields, `${path}.content.${at}`));
  }
  return assistantMessage(joinParts(parts), calls, reasoning.length > 0 ? reasoning.join('\n') : null);
}

function readToolResult(fields: Fields, path: string, names: Map<string, string>): Message {
  const id = textAt(fields.tool_use_id, `${path}.tool_use_id`);
  const { content } = fields;
  const text =
    typeof content === 'string'
      ? content
      : joinParts(
          listAt(content, `${path}.content`).map((part, at) =>
            readPart(objectAt(part, `${path}.content.${at}`), `${path}.content.${at}`),
          ),
        );
  const marked = fields.is_error === true && !/error/iu.test(text.slice(0, 40)) ? `Error: ${text}` : text;
  return toolMessage(id, marked, names.get(id) ?? null);
}

function readPart(fields: Fields, path: string): string {
  if (fields.type === 'text') return textAt(fields.text, `${path}.text`);
  if (fields.type === 'image' || fields.type === 'document') {
    const source = objectAt(fields.source, `${path}.source`);
    if (source.type === 'text' && typeof source.data === 'string') return source.data;
    return placeholder(fields.type, source.media_type, source.data);
  }
  if (fields.type === 'tool_reference') return `[tool available: ${String(fields.tool_name)}]`;
  throw refuse(`${path}: blocks of type ${String(fields.type)} are not supported`);
}

function readNotes(request: Fields): readonly string[] {
  const notes: string[] = [];
  const choice = request.tool_choice === undefined ? {} : objectAt(request.tool_choice, 'tool_choice');
  if (choice.type === 'tool') notes.push(`Reply with a call of the tool ${String(choice.name)}.`);
  else if (choice.type === 'any') notes.push('Reply with a tool call.');
  else if (choice.type === 'none') notes.push('Reply without a tool call.');
  const config = (request.output_config ?? {}) as Fields;
  const format = (config.format ?? request.output_format) as Fields | undefined;
  if (format?.schema !== undefined) {
    notes.push(`Reply with JSON only, matching this schema: ${JSON.stringify(format.schema)}`);
  }
  return notes;
}

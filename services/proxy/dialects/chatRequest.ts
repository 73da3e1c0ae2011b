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

const samplingFields = [
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'min_tokens',
  'seed',
  'stop',
  'logit_bias',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'logprobs',
  'top_logprobs',
];

/** Reads an OpenAI Chat Completions request. @throws EspalierError E_REQUEST */
export function readChatRequest(body: unknown): CanonicalRequest {
  const request = objectAt(body, 'the request');
  if (request.n !== undefined && request.n !== null && request.n !== 1) {
    throw refuse('n must be 1: a turn has one continuation');
  }
  if (request.functions !== undefined) throw refuse('functions is not supported: use tools');
  const names = new Map<string, string>();
  const all = listAt(request.messages, 'messages').flatMap((message, at) =>
    readMessage(message, `messages.${at}`, names),
  );
  const leading = all.findIndex((message) => message.role !== 'system');
  const messages = leading < 0 ? all : all.slice(leading);
  if (messages.length === 0) throw refuse('messages must not be empty');
  const stop = typeof request.stop === 'string' ? [request.stop] : listAt(request.stop, 'stop');
  const options = (request.stream_options ?? {}) as Fields;
  return {
    model: typeof request.model === 'string' ? request.model : 'policy',
    system: leading < 0 ? '' : joinParts(all.slice(0, leading).map((message) => message.content)),
    tools: listAt(request.tools, 'tools').map((tool, at) => readTool(tool, `tools.${at}`)),
    messages,
    stream: request.stream === true,
    includeUsage: options.include_usage === true,
    maxTokens:
      countAt(request.max_completion_tokens, 'max_completion_tokens') ??
      countAt(request.max_tokens, 'max_tokens'),
    stopStrings: stop.map((text, at) => textAt(text, `stop.${at}`)),
    notes: readNotes(request),
    requestedSampling: pick(request, samplingFields),
  };
}

function readTool(tool: unknown, path: string): ToolDefinition {
  const fields = objectAt(tool, path);
  if (fields.type !== 'function')
    throw refuse(`${path}: tools of type ${String(fields.type)} are not supported`);
  const definition = objectAt(fields.function, `${path}.function`);
  return {
    name: textAt(definition.name, `${path}.function.name`),
    description: typeof definition.description === 'string' ? definition.description : '',
    parameters: definition.parameters ?? { type: 'object', properties: {} },
  };
}

function readMessage(value: unknown, path: string, names: Map<string, string>): readonly Message[] {
  const fields = objectAt(value, path);
  const text = readContent(fields.content, `${path}.content`);
  switch (fields.role) {
    case 'system':
    case 'developer':
      return text === '' ? [] : [textMessage('system', text)];
    case 'user':
      return [textMessage('user', text)];
    case 'assistant':
      return [readAssistant(fields, text, path, names)];
    case 'tool': {
      const id = textAt(fields.tool_call_id, `${path}.tool_call_id`);
      return [toolMessage(id, text, names.get(id) ?? null)];
    }
    default:
      throw refuse(`${path}.role ${String(fields.role)} is not supported`);
  }
}

function readAssistant(fields: Fields, text: string, path: string, names: Map<string, string>): Message {
  const calls = listAt(fields.tool_calls, `${path}.tool_calls`).map((value, at): ToolCall => {
    const call = objectAt(value, `${path}.tool_calls.${at}`);
    const target = objectAt(call.function, `${path}.tool_calls.${at}.function`);
    const id = textAt(call.id, `${path}.tool_calls.${at}.id`);
    const name = textAt(target.name, `${path}.tool_calls.${at}.function.name`);
    names.set(id, name);
    return { id, name, arguments: typeof target.arguments === 'string' ? target.arguments : '{}' };
  });
  const refusal = typeof fields.refusal === 'string' ? fields.refusal : '';
  const reasoning = fields.reasoning_content ?? fields.reasoning;
  return assistantMessage(
    text === '' ? refusal : text,
    calls,
    typeof reasoning === 'string' ? reasoning : null,
  );
}

function readContent(content: unknown, path: string): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  return joinParts(
    listAt(content, path).map((value, at) => {
      const part = objectAt(value, `${path}.${at}`);
      if (part.type === 'text') return textAt(part.text, `${path}.${at}.text`);
      if (part.type === 'refusal') return textAt(part.refusal, `${path}.${at}.refusal`);
      if (part.type === 'image_url') {
        const { url } = objectAt(part.image_url, `${path}.${at}.image_url`);
        return placeholder(
          'image',
          typeof url === 'string' && !url.startsWith('data:') ? url : undefined,
          url,
        );
      }
      throw refuse(`${path}.${at}: parts of type ${String(part.type)} are not supported`);
    }),
  );
}

function readNotes(request: Fields): readonly string[] {
  const notes: string[] = [];
  const choice = request.tool_choice;
  if (choice === 'required') notes.push('Reply with a tool call.');
  else if (choice === 'none' && request.tools !== undefined) notes.push('Reply without a tool call.');
  else if (choice !== null && typeof choice === 'object') {
    const target = (choice as Fields).function as Fields | undefined;
    if (target !== undefined) notes.push(`Reply with a call of the tool ${String(target.name)}.`);
  }
  const format = (request.response_format ?? {}) as Fields;
  if (format.type === 'json_object') notes.push('Reply with JSON only.');
  else if (format.type === 'json_schema') {
    const { schema } = (format.json_schema ?? {}) as Fields;
    notes.push(`Reply with JSON only, matching this schema: ${JSON.stringify(schema ?? {})}`);
  }
  return notes;
}

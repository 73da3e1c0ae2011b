import type { StreamWriter } from './scriptedModelServer.ts';

/** A scripted reply as the chunks of the Chat Completions stream; deltas are cut small on purpose. */
export const chatCompletionsStream: StreamWriter = (reply) => {
  const events: string[] = [];
  const emit = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    events.push(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices })}\n\n`);
  };
  emit({ role: 'assistant', content: '' });
  for (const content of (reply.text ?? '').match(/[\s\S]{1,5}/gu) ?? []) emit({ content });
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    emit({
      tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
    });
    const json = call.rawInput ?? JSON.stringify(call.input);
    for (const part of json.match(/[\s\S]{1,7}/gu) ?? []) {
      emit({ tool_calls: [{ index, function: { arguments: part } }] });
    }
  }
  emit({}, (reply.toolCalls ?? []).length > 0 ? 'tool_calls' : 'stop');
  const usage = { prompt_tokens: reply.inputTokens ?? 10, completion_tokens: 1 };
  events.push(`data: ${JSON.stringify({ id: 'c1', choices: [], usage })}\n\n`);
  events.push('data: [DONE]\n\n');
  return events;
};

import type { StreamWriter } from './scriptedModelServer.ts';

/** A scripted reply as the events of the Anthropic Messages stream; deltas are cut small on purpose. */
export const anthropicStream: StreamWriter = (reply) => {
  const events: string[] = [];
  const emit = (type: string, data: object): void => {
    events.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const usage = { input_tokens: reply.inputTokens ?? 10, output_tokens: 1 };
  emit('message_start', { message: { id: 'msg1', role: 'assistant', content: [], usage } });
  emit('ping', {});
  let index = 0;
  if (reply.text !== undefined) {
    emit('content_block_start', { index, content_block: { type: 'text', text: '' } });
    for (const text of reply.text.match(/[\s\S]{1,5}/gu) ?? []) {
      emit('content_block_delta', { index, delta: { type: 'text_delta', text } });
    }
    emit('content_block_stop', { index });
    index += 1;
  }
  for (const call of reply.toolCalls ?? []) {
    emit('content_block_start', {
      index,
      content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
    });
    const json = call.rawInput ?? JSON.stringify(call.input);
    for (const part of json.match(/[\s\S]{1,7}/gu) ?? []) {
      emit('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: part } });
    }
    emit('content_block_stop', { index });
    index += 1;
  }
  const stop = (reply.toolCalls ?? []).length > 0 ? 'tool_use' : 'end_turn';
  emit('message_delta', { delta: { stop_reason: stop }, usage: { output_tokens: 9 } });
  emit('message_stop', {});
  return events;
};

#!/usr/bin/env node
// Birch: a small agent that speaks the OpenAI Chat Completions API. `birch.js -p PROMPT` works in the current
// directory until the model answers without a tool call. A malformed tool call stays and gets an error back.
import { postStream } from './lib/postStream.js';
import { readArguments } from './lib/readArguments.js';
import { findCallProblem, runTool, schemaOf, toolTable } from './lib/tools.js';

const mainPrompt =
  'You are Birch, an agent. Work in the current directory with the tools. Reply without a tool call when the task is done.';
const helperPrompt = 'You are a helper of Birch. Answer the request briefly. You may read files.';
const titlePrompt = 'Write a title of at most five words for this task.';
const summaryRequest =
  'The context is nearly full. Write a summary of the work so far in plain text, without tools: the goal, what is known, what is next.';
const unreadable = 'Your tool call could not be read. Write it again in the right form.';
const mainTools = ['read_file', 'write_file', 'shell', 'delegate'];
const helperTurns = 2;

const options = readArguments('birch', process.argv.slice(2));
const baseUrl = process.env.OPENAI_BASE_URL;
const apiKey = process.env.OPENAI_API_KEY;
if (!baseUrl || !apiKey) fail(2, 'OPENAI_BASE_URL and OPENAI_API_KEY must be set');

try {
  if (process.env.BIRCH_TITLE !== '0') await call([], [system(titlePrompt), user(options.prompt)]);
  const text = await converse({
    system: mainPrompt,
    tools: mainTools,
    instruction: options.prompt,
    turns: options.maxTurns,
    contextLimit: options.contextLimit,
  });
  process.stdout.write(`${text}\n`, () => process.exit(0));
} catch (error) {
  fail(1, error.message);
}

/** Runs one thread to its final text. */
async function converse(thread) {
  let messages = [system(thread.system), user(thread.instruction)];
  let sinceCompaction = 2;
  for (let turn = 0; turn < thread.turns; turn += 1) {
    const reply = await call(thread.tools, messages);
    sinceCompaction += 1;
    const broken = reply.toolCalls.length === 0 && reply.text.includes('<tool_call');
    if (reply.toolCalls.length === 0 && !broken) return reply.text;
    messages.push(echo(reply));
    for (const toolCall of reply.toolCalls) {
      messages.push({ role: 'tool', tool_call_id: toolCall.id, content: await answer(thread, toolCall) });
    }
    if (broken) messages.push(user(unreadable));
    if (reply.inputTokens > thread.contextLimit && sinceCompaction >= 2 && turn + 1 < thread.turns) {
      const summary = (await call(thread.tools, [...messages, user(summaryRequest)])).text.trim();
      sinceCompaction = 0;
      if (summary === '') process.stderr.write('birch: the summary was empty, the history stays\n');
      else messages = restart(thread, summary);
    }
  }
  return 'max turns';
}

function restart(thread, summary) {
  return [
    system(thread.system),
    user('What did we do so far?'),
    { role: 'assistant', content: summary },
    user(`${thread.instruction}\n\nContinue.`),
  ];
}

async function answer(thread, toolCall) {
  const problem = findCallProblem(thread.tools, toolCall.name, toolCall.input);
  if (problem !== undefined) return `Error: ${problem}`;
  if (toolCall.name !== 'delegate') return runTool(toolCall.name, toolCall.input);
  const helper = { system: helperPrompt, tools: ['read_file'], instruction: toolCall.input.prompt };
  const text = await converse({ ...helper, turns: helperTurns, contextLimit: Number.POSITIVE_INFINITY });
  return text.trim() || '(no answer)';
}

async function call(tools, messages) {
  const specification = tools.map((name) => ({
    type: 'function',
    function: { name, description: toolTable[name].description, parameters: schemaOf(name) },
  }));
  const events = await postStream(
    `${baseUrl.replace(/\/$/, '')}/chat/completions`,
    { authorization: `Bearer ${apiKey}` },
    {
      model: options.model,
      messages,
      ...(tools.length > 0 ? { tools: specification } : {}),
      stream: true,
      stream_options: { include_usage: true },
    },
    (event) => event === '[DONE]',
  );
  return readReply(events);
}

function readReply(events) {
  let text = '';
  let inputTokens = 0;
  const calls = [];
  for (const event of events) {
    inputTokens = Math.max(inputTokens, event.usage?.prompt_tokens ?? 0);
    const delta = event.choices?.[0]?.delta ?? {};
    text += delta.content ?? '';
    for (const part of delta.tool_calls ?? []) {
      calls[part.index] ??= { id: '', name: '', json: '' };
      const toolCall = calls[part.index];
      toolCall.id ||= part.id ?? '';
      toolCall.name += part.function?.name ?? '';
      toolCall.json += part.function?.arguments ?? '';
    }
  }
  const toolCalls = calls.filter(Boolean).map(({ id, name, json }) => ({ id, name, input: parse(json) }));
  return { text, toolCalls, inputTokens };
}

// The arguments go back as this program's own JSON; what could not be parsed goes back as {}.
function echo(reply) {
  return {
    role: 'assistant',
    content: reply.text.trim() === '' ? null : reply.text,
    ...(reply.toolCalls.length > 0
      ? {
          tool_calls: reply.toolCalls.map(({ id, name, input }) => ({
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(input ?? {}) },
          })),
        }
      : {}),
  };
}

function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function system(content) {
  return { role: 'system', content };
}

function user(content) {
  return { role: 'user', content };
}

function fail(code, message) {
  process.stderr.write(`birch: ${message}\n`);
  process.exit(code);
}

#!/usr/bin/env node
// Alder: a small agent that speaks the Anthropic Messages API. `alder.js -p PROMPT` works in the current
// directory until the model answers without a tool call. A malformed tool call is forgotten and asked again.
import { postStream } from './lib/postStream.js';
import { readArguments } from './lib/readArguments.js';
import { findCallProblem, runTool, schemaOf, toolTable } from './lib/tools.js';

const mainPrompt =
  'You are Alder, an agent. Work in the current directory with the tools. When the task is done, reply without a tool call.';
const helperPrompt = 'You are a helper of Alder. Answer the request briefly. You may read files.';
const summaryRequest =
  'Stop here. Summarise the work so far in plain text and use no tool: what was asked, what was found, what is left.';
const mainTools = ['read_file', 'write_file', 'shell', 'delegate'];
const helperTurns = 2;
const mostReasks = 2;

const options = readArguments('alder', process.argv.slice(2));
const baseUrl = process.env.ANTHROPIC_BASE_URL;
const authToken = process.env.ANTHROPIC_AUTH_TOKEN;
if (!baseUrl || !authToken) fail(2, 'ANTHROPIC_BASE_URL and ANTHROPIC_AUTH_TOKEN must be set');

try {
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
  let messages = [userText(thread.instruction)];
  let reasks = 0;
  let sinceCompaction = 2;
  for (let turn = 0; turn < thread.turns; turn += 1) {
    const reply = await call(thread, messages);
    sinceCompaction += 1;
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    const problems = calls.map((use) => findCallProblem(thread.tools, use.name, use.input));
    const broken = reply.text.includes('<tool_call') || problems.some((problem) => problem !== undefined);
    if (broken && reasks < mostReasks) {
      reasks += 1;
      continue;
    }
    reasks = 0;
    if (calls.length === 0) return reply.text;
    const results = [];
    for (const [at, use] of calls.entries()) results.push(await answer(use, problems[at]));
    messages.push({ role: 'assistant', content: reply.content }, { role: 'user', content: results });
    if (reply.inputTokens > thread.contextLimit && sinceCompaction >= 2 && turn + 1 < thread.turns) {
      const summary = (await call(thread, [...messages, userText(summaryRequest)])).text.trim();
      sinceCompaction = 0;
      if (summary === '') process.stderr.write('alder: the summary was empty, the history stays\n');
      else messages = [userText(`${thread.instruction}\n\nSummary of the work so far:\n${summary}`)];
    }
  }
  return 'max turns';
}

async function answer(use, problem) {
  const result = (content, isError) => ({
    type: 'tool_result',
    tool_use_id: use.id,
    content,
    ...(isError ? { is_error: true } : {}),
  });
  if (problem !== undefined) return result(`Error: ${problem}`, true);
  if (use.name !== 'delegate') return result(await runTool(use.name, use.input), false);
  const helper = { system: helperPrompt, tools: ['read_file'], instruction: use.input.prompt };
  const text = await converse({ ...helper, turns: helperTurns, contextLimit: Number.POSITIVE_INFINITY });
  return result(text.trim() || '(no answer)', false);
}

async function call(thread, messages) {
  const events = await postStream(
    `${baseUrl.replace(/\/$/, '')}/v1/messages`,
    { authorization: `Bearer ${authToken}`, 'anthropic-version': '2023-06-01' },
    {
      model: options.model,
      max_tokens: 1024,
      stream: true,
      system: [{ type: 'text', text: thread.system, cache_control: { type: 'ephemeral' } }],
      tools: thread.tools.map((name) => ({
        name,
        description: toolTable[name].description,
        input_schema: schemaOf(name),
      })),
      messages: markLastBlock(messages),
    },
    (event) => event.type === 'message_stop',
  );
  return readReply(events);
}

function readReply(events) {
  const blocks = [];
  let inputTokens = 0;
  for (const event of events) {
    const usage = event.message?.usage ?? event.usage ?? {};
    const total =
      (usage.input_tokens ?? 0) +
      (usage.cache_read_input_tokens ?? 0) +
      (usage.cache_creation_input_tokens ?? 0);
    inputTokens = Math.max(inputTokens, total);
    if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, json: '' };
    if (event.type !== 'content_block_delta') continue;
    const block = blocks[event.index];
    const { delta } = event;
    if (delta.type === 'text_delta') block.text += delta.text;
    else if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
    else if (delta.type === 'signature_delta') block.signature = delta.signature;
    else if (delta.type === 'input_json_delta') block.json += delta.partial_json;
  }
  const content = blocks.filter((block) => block.type !== 'text' || block.text.trim() !== '').map(toContent);
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { content, text, inputTokens };
}

// The input goes back as this program's own JSON, not as the bytes that came.
function toContent({ json, ...block }) {
  if (block.type !== 'tool_use' || json === '') return block;
  try {
    return { ...block, input: JSON.parse(json) };
  } catch {
    return { ...block, input: { unparsed: json } };
  }
}

// Only the newest block carries the cache marker, so it moves from request to request.
function markLastBlock(messages) {
  const last = messages.at(-1);
  const content = last.content.map((block, at) =>
    at === last.content.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
  );
  return [...messages.slice(0, -1), { ...last, content }];
}

function userText(text) {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function fail(code, message) {
  process.stderr.write(`alder: ${message}\n`);
  process.exit(code);
}

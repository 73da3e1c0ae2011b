import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assistantMessage, textMessage } from '../../schemas/canonical.ts';
import { EspalierError } from '../../schemas/errors.ts';
import { type ChatTemplate, chatTemplate } from './chatTemplate.ts';
import { closeOf, graftText, selfTest } from './graft.ts';
import { loadTokenizer, type TokenizerJson } from './loadTokenizer.ts';
import type { Model } from './model.ts';
import { parseReply } from './parse/parseReply.ts';
import { readModelConfig } from './readModelConfig.ts';

/**
 * Loads a Hugging Face model directory: tokenizer.json, tokenizer_config.json, and, where they are
 * there, chat_template.jinja, config.json and generation_config.json. Weights are not read.
 * @throws EspalierError E_MODEL_DIR (missing or unreadable files), E_TEMPLATE (self-test failed)
 */
export function loadModel(dir: string): Model {
  const tokenizerText = readText(dir, 'tokenizer.json');
  const config = readModelConfig({
    tokenizer: parseJson(dir, 'tokenizer_config.json', readText(dir, 'tokenizer_config.json')),
    template: optionalText(dir, 'chat_template.jinja'),
    model: optionalJson(dir, 'config.json'),
    generation: optionalJson(dir, 'generation_config.json'),
  });
  if (config.template === undefined) throw new EspalierError('E_MODEL_DIR', `${dir} has no chat template`);
  const codec = loadTokenizer(
    parseJson(dir, 'tokenizer.json', tokenizerText) as TokenizerJson,
    config.tokenizerConfig,
  );
  const variables = { bos_token: config.bosToken ?? '', eos_token: config.eosToken ?? '' };
  const template = compile(config.template, variables, codec.guard);
  const encodeTemplate = (text: string): Int32Array => codec.encode(text, true);
  selfTest(template, encodeTemplate);

  const close = closeOf(template);
  const closeIds = encodeTemplate(close);
  const eosTokenId = closeIds.find(codec.isSpecial) ?? closeIds[0];
  if (eosTokenId === undefined)
    throw new EspalierError('E_TEMPLATE', 'the chat template never closes a turn');
  const named = config.eosToken === undefined ? undefined : codec.idOf(config.eosToken);
  const stopTokenIds = [...new Set([eosTokenId, ...(named === undefined ? [] : [named]), ...config.eosIds])];
  const opensReasoning = /<think>\s*$/u.test(template.render([textMessage('user', 'probe')], [], true));
  const afterClose = (ids: Int32Array, sampled: Int32Array): Int32Array =>
    ids.subarray(overlap(sampled, ids, closeIds.length));

  return {
    tokenizerDigest: sha256(tokenizerText),
    templateDigest: sha256(config.template),
    stopTokenIds,
    eosTokenId,
    maxContext: config.maxContext,
    stripsReasoning: dropsReasoning(template),
    encode: (text, options) => codec.encode(text, options?.special === true),
    decode: codec.decode,
    renderRoot: (messages, tools) => encodeTemplate(template.render(messages, tools, true)),
    renderTurn: (previous, messages) => {
      const graft = graftText(template, close, previous.response.toolCalls, messages);
      return afterClose(encodeTemplate(graft), previous.sampledTokenIds);
    },
    closeTurn: (sampled) => afterClose(closeIds, sampled),
    parseReply: (sampled, options = {}) => {
      const ended = sampled.length > 0 && stopTokenIds.includes(sampled[sampled.length - 1]!);
      const text = codec.decode(ended ? sampled.subarray(0, -1) : sampled);
      const opened = opensReasoning && options.prefilled !== true;
      return parseReply(text, opened, options.truncated !== true, options.stopStrings ?? []);
    },
  };
}

/** How many of the first `most` ids of `next` the sampled ids already end in. */
function overlap(sampled: Int32Array, next: Int32Array, most: number): number {
  for (let length = Math.min(most, sampled.length); length > 0; length -= 1) {
    const from = sampled.length - length;
    let at = 0;
    while (at < length && sampled[from + at] === next[at]) at += 1;
    if (at === length) return length;
  }
  return 0;
}

function compile(
  source: string,
  variables: Readonly<Record<string, unknown>>,
  guard: (text: string) => string,
): ChatTemplate {
  try {
    return chatTemplate(source, variables, guard);
  } catch (error) {
    throw new EspalierError('E_TEMPLATE', `the chat template cannot be read: ${String(error)}`, {
      cause: error,
    });
  }
}

function dropsReasoning(template: ChatTemplate): boolean {
  const text = template.render(
    [textMessage('user', 'one'), assistantMessage('two', [], 'probethought'), textMessage('user', 'three')],
    [],
    true,
  );
  return !text.includes('probethought');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function readText(dir: string, name: string): string {
  try {
    return readFileSync(join(dir, name), 'utf8');
  } catch (error) {
    throw new EspalierError('E_MODEL_DIR', `cannot read ${join(dir, name)}`, { cause: error });
  }
}

function optionalText(dir: string, name: string): string | undefined {
  return existsSync(join(dir, name)) ? readText(dir, name) : undefined;
}

function optionalJson(dir: string, name: string): unknown {
  const text = optionalText(dir, name);
  return text === undefined ? undefined : parseJson(dir, name, text);
}

function parseJson(dir: string, name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EspalierError('E_MODEL_DIR', `${join(dir, name)} is no JSON`, { cause: error });
  }
}

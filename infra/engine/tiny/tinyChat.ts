// Text to ids for the tiny model: its tokenizer and chat template, as any user of the model directory loads them.
import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { TINY_MODEL_DIR } from './vocabulary.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
}

/** One tool signature in the form chat templates expect. */
export interface ChatTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: {
      readonly type: 'object';
      readonly properties: Record<string, { type: string; description?: string }>;
      readonly required: readonly string[];
    };
  };
}

export class TinyChat {
  private readonly tokenizer: Tokenizer;
  private readonly template: Template;

  constructor(dir: URL = TINY_MODEL_DIR) {
    const read = (name: string) => JSON.parse(readFileSync(new URL(name, dir), 'utf8'));
    const config = read('tokenizer_config.json');
    this.tokenizer = new Tokenizer(read('tokenizer.json'), config);
    this.template = new Template(config.chat_template);
  }

  /** Ids of a text; special-token literals in it become special tokens. */
  encode(text: string): number[] {
    return this.tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** Prompt ids of a conversation, up to where the assistant's reply starts. */
  prompt(messages: readonly ChatMessage[], tools: readonly ChatTool[] = []): number[] {
    const text = this.template.render({
      messages: messages as unknown as Record<string, unknown>[],
      ...(tools.length > 0 ? { tools } : {}),
      add_generation_prompt: true,
    });
    return this.encode(text);
  }
}

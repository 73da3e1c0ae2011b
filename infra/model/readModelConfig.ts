/** The files of a model directory, parsed; undefined where a file is absent. */
export interface ModelFiles {
  readonly tokenizer: unknown;
  readonly template: string | undefined;
  readonly model: unknown;
  readonly generation: unknown;
}

/** What those files say, in one form. */
export interface ModelConfig {
  readonly tokenizerConfig: object;
  readonly template: string | undefined;
  readonly bosToken: string | undefined;
  readonly eosToken: string | undefined;
  /** End ids named by the generation or model configuration. */
  readonly eosIds: readonly number[];
  readonly maxContext: number;
}

const defaultContext = 32_768;
// Tokenizer configurations write "no limit" as a very large number.
const largestContext = 10_000_000;

/** Reads the variants in which model directories state their template, end tokens and context. */
export function readModelConfig(files: ModelFiles): ModelConfig {
  const tokenizer = asObject(files.tokenizer);
  const model = asObject(files.model);
  const generation = asObject(files.generation);
  const contexts = [
    model.max_position_embeddings,
    asObject(model.text_config).max_position_embeddings,
    tokenizer.model_max_length,
  ];
  const context = contexts.find(
    (value): value is number => typeof value === 'number' && value > 0 && value < largestContext,
  );
  return {
    tokenizerConfig: tokenizer,
    template: files.template ?? templateOf(tokenizer.chat_template),
    bosToken: tokenText(tokenizer.bos_token),
    eosToken: tokenText(tokenizer.eos_token),
    eosIds: [...idsOf(generation.eos_token_id), ...idsOf(model.eos_token_id)],
    maxContext: context ?? defaultContext,
  };
}

function templateOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const entries = value.map(asObject);
  const chosen =
    entries.find((entry) => entry.name === 'tool_use') ?? entries.find((entry) => entry.name === 'default');
  return typeof chosen?.template === 'string' ? chosen.template : undefined;
}

function tokenText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const content = asObject(value).content;
  return typeof content === 'string' ? content : undefined;
}

function idsOf(value: unknown): readonly number[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((id): id is number => typeof id === 'number');
}

function asObject(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}

import { fileURLToPath } from 'node:url';

/** The model directory of the built-in tiny policy: tokenizer and chat template. */
export function tinyModelDir(): string {
  return fileURLToPath(new URL('../../infra/engine/tiny/model', import.meta.url));
}

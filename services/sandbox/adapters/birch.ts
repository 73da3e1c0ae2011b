import { bundledHarness } from './bundledHarness.ts';

/** The bundled harness that speaks Chat Completions. */
export const birch = bundledHarness('birch', 'openai-chat', (context) => ({
  OPENAI_BASE_URL: `${context.baseUrl}/v1`,
  OPENAI_API_KEY: context.apiKey,
}));

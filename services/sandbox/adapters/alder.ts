import { bundledHarness } from './bundledHarness.ts';

/** The bundled harness that speaks Anthropic Messages. */
export const alder = bundledHarness('alder', 'anthropic-messages', (context) => ({
  ANTHROPIC_BASE_URL: context.baseUrl,
  ANTHROPIC_AUTH_TOKEN: context.apiKey,
}));

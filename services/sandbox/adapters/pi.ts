import { installedHarness } from './installedHarness.ts';
import { nodeForHarnesses } from './nodeForHarnesses.ts';

/** Pi, over Chat Completions. It exits 0 even when its model calls failed. */
export const pi = installedHarness({
  name: 'pi',
  dialect: 'openai-chat',
  install: {
    package: '@mariozechner/pi-coding-agent',
    version: '0.73.1',
    node: nodeForHarnesses,
    bin: 'pi',
  },
  files: (context) => {
    const model = { id: context.model, reasoning: true, contextWindow: 200_000, maxTokens: 8_192 };
    const provider = {
      baseUrl: `${context.baseUrl}/v1`,
      api: 'openai-completions',
      apiKey: 'POLICY_API_KEY',
      models: [model],
    };
    return [{ path: '.pi/agent/models.json', text: JSON.stringify({ providers: { policy: provider } }) }];
  },
  variables: (context) => ({ POLICY_API_KEY: context.apiKey, PI_OFFLINE: '1' }),
  args: (context) => [
    '-p',
    '--mode',
    'json',
    '--provider',
    'policy',
    '--model',
    context.model,
    ...context.extraArgs,
    context.instruction,
  ],
});

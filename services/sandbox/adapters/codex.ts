import { installedHarness } from './installedHarness.ts';
import { nodeForHarnesses } from './nodeForHarnesses.ts';

/** Codex. Analytics are off: offline, their flush costs seconds at exit. */
export const codex = installedHarness({
  name: 'codex',
  dialect: 'openai-responses',
  install: { package: '@openai/codex', version: '0.171.0', node: nodeForHarnesses, bin: 'codex' },
  files: (context) => [
    {
      path: '.codex/config.toml',
      text: [
        `model = ${JSON.stringify(context.model)}`,
        'model_provider = "policy"',
        '',
        '[model_providers.policy]',
        'name = "policy"',
        `base_url = ${JSON.stringify(`${context.baseUrl}/v1`)}`,
        'env_key = "POLICY_API_KEY"',
        'wire_api = "responses"',
        '',
      ].join('\n'),
    },
  ],
  variables: (context) => ({ POLICY_API_KEY: context.apiKey }),
  args: (context) => [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    '--json',
    '-c',
    'analytics.enabled=false',
    ...context.extraArgs,
    context.instruction,
  ],
});

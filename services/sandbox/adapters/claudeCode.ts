import { installedHarness } from './installedHarness.ts';
import { nodeForHarnesses } from './nodeForHarnesses.ts';

/** Claude Code. As root it starts only when IS_SANDBOX says that it is contained. */
export const claudeCode = installedHarness({
  name: 'claude-code',
  dialect: 'anthropic-messages',
  install: {
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    node: nodeForHarnesses,
    bin: 'claude',
  },
  files: () => [],
  variables: (context) => ({
    ANTHROPIC_BASE_URL: context.baseUrl,
    ANTHROPIC_AUTH_TOKEN: context.apiKey,
    IS_SANDBOX: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  args: (context) => [
    '-p',
    context.instruction,
    '--dangerously-skip-permissions',
    '--output-format',
    'json',
    ...context.extraArgs,
  ],
});

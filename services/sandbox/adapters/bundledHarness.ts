import { fileURLToPath } from 'node:url';
import type { Dialect, HarnessAdapter, HarnessContext } from './harnessAdapter.ts';

/** Adapter of a harness that comes with Espalier: a plain JavaScript program in ../harnesses. */
export function bundledHarness(
  name: string,
  dialect: Dialect,
  env: (context: HarnessContext) => Record<string, string>,
): HarnessAdapter {
  const folder = fileURLToPath(new URL('../harnesses', import.meta.url));
  return {
    name,
    dialect,
    version: '1',
    install: null,
    isolationRequired: false,
    files: () => [],
    env,
    argv: (context) => [
      context.nodePath,
      `${folder}/${name}.js`,
      ...context.extraArgs,
      '--model',
      context.model,
      '-p',
      context.instruction,
    ],
    readOnly: (context) => [folder, context.nodePath],
    exitMeaning: (exitCode) => (exitCode === 0 ? 'completed' : 'harnessError'),
  };
}

import { join } from 'node:path';
import { defaultPath } from '../../../infra/process/sandbox/cleanEnvironment.ts';
import type { HarnessAdapter, HarnessContext, InstallRecipe } from './harnessAdapter.ts';

type Own = Pick<HarnessAdapter, 'name' | 'dialect' | 'files'> & {
  readonly install: InstallRecipe;
  readonly args: (context: HarnessContext) => readonly string[];
  readonly variables: (context: HarnessContext) => Readonly<Record<string, string>>;
};

/** Adapter of a harness from npm, with the Node installed beside it first on PATH. */
export function installedHarness(own: Own): HarnessAdapter {
  const { name, dialect, files, install } = own;
  return {
    name,
    dialect,
    version: install.version,
    install,
    files,
    isolationRequired: true,
    env: (context) => ({
      PATH: `${join(context.installDir, 'node_modules/node/bin')}:${defaultPath}`,
      ...own.variables(context),
    }),
    argv: (context) => [join(context.installDir, 'node_modules/.bin', install.bin), ...own.args(context)],
    readOnly: (context) => [context.installDir],
    exitMeaning: (exitCode) => (exitCode === 0 ? 'completed' : 'harnessError'),
  };
}

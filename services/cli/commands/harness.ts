import { join } from 'node:path';
import { EspalierError } from '../../../schemas/errors.ts';
import type { Command, CommandContext } from '../command.ts';
import { subcommand } from '../subcommand.ts';

/** `harness list`, `harness install NAME`. */
export const command: Command = {
  name: 'harness',
  summary: 'list the known harnesses, or install one at its pinned version',
  usage: 'harness list | harness install NAME',
  details:
    'A harness is installed from npm, unmodified, with the Node it needs, into the data folder. alder and birch come with Espalier.',
  options: {},
  positionals: { min: 0, max: 2 },
  async run(context) {
    const action = subcommand('harness', context.positionals, ['list', 'install']);
    return action === 'list' ? await list(context) : await install(context);
  },
};

async function list({ dataDir, emit, out, tableColumns }: CommandContext): Promise<number> {
  const [{ harnessAdapters }, { isInstalled }, { formatTable }] = await Promise.all([
    import('../../sandbox/adapters/findAdapter.ts'),
    import('../../sandbox/adapters/installHarness.ts'),
    import('../text/formatTable.ts'),
  ]);
  const harnesses = harnessAdapters.map((adapter) => ({
    name: adapter.name,
    version: adapter.version,
    dialect: adapter.dialect,
    installed: isInstalled(adapter, join(dataDir, 'harnesses')),
    bundled: adapter.install === null,
  }));
  emit({ harnesses });
  const rows = harnesses.map((h) => [
    h.name,
    h.version,
    h.dialect,
    h.bundled ? 'comes with Espalier' : h.installed ? 'installed' : `espalier harness install ${h.name}`,
  ]);
  out(formatTable(['harness', 'version', 'dialect', 'state'], rows, tableColumns));
  return 0;
}

async function install({ positionals, dataDir, env, emit, out }: CommandContext): Promise<number> {
  const name = positionals[1];
  if (name === undefined) throw new EspalierError('E_USAGE', 'harness install needs the name of a harness');
  const { installHarness } = await import('../../sandbox/adapters/installHarness.ts');
  const folder = await installHarness(name, join(dataDir, 'harnesses'), { env, onProgress: out });
  emit({ harness: name, folder });
  return 0;
}

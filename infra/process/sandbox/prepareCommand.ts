import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBridge } from './bridge/openBridge.ts';
import { bubblewrapArguments } from './bubblewrapArguments.ts';
import type { ContainedOptions } from './containment.ts';
import { limitArguments } from './limitArguments.ts';

export interface PreparedCommand {
  readonly argv: readonly string[];
  /** Temporary paths that go with the run. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

/** The full command line of a contained run, and the bridge to the model where the run has no network. */
export async function prepareCommand(options: ContainedOptions): Promise<PreparedCommand> {
  if (options.isolation === 'process') {
    return { argv: limitArguments(options.argv, options.limits, false), paths: [], close: async () => {} };
  }
  const mounts = {
    cwd: options.cwd,
    readOnly: options.readOnly ?? [],
    writable: [options.cwd, options.home, ...(options.writable ?? [])],
  };
  const { proxyPort } = options;
  if (proxyPort === undefined) {
    const inner = limitArguments(options.argv, options.limits, false);
    return { argv: ['bwrap', ...bubblewrapArguments(mounts), ...inner], paths: [], close: async () => {} };
  }
  const own = options.proxySocket === undefined ? await openBridge(proxyPort) : undefined;
  const socket = options.proxySocket ?? join(own?.directory ?? '', 'model');
  const relay = fileURLToPath(new URL('./bridge/relay.js', import.meta.url));
  const node = realpathSync(process.execPath);
  const inner = limitArguments(
    [
      node,
      relay,
      String(proxyPort),
      `/run/model/${socket.slice(dirname(socket).length + 1)}`,
      ...options.argv,
    ],
    options.limits,
    true,
  );
  const outer = bubblewrapArguments({
    ...mounts,
    readOnly: [...mounts.readOnly, node, dirname(relay)],
    socketDirectory: dirname(socket),
  });
  return {
    argv: ['bwrap', ...outer, ...inner],
    paths: own === undefined ? [] : [own.directory],
    close: async () => own?.close(),
  };
}

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { EspalierError } from '../../../schemas/errors.ts';
import { findAdapter } from './findAdapter.ts';
import type { HarnessAdapter, InstallRecipe } from './harnessAdapter.ts';

export interface InstallOptions {
  /** Environment for npm: its configuration and PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onProgress?: (line: string) => void;
}

/** Where a harness is installed under the folder of all harnesses. */
export function harnessDir(adapter: HarnessAdapter, harnessesDir: string): string {
  return resolve(harnessesDir, `${adapter.name}-${adapter.version}`);
}

/** Whether it can be started: bundled, or installed at the pinned version. */
export function isInstalled(adapter: HarnessAdapter, harnessesDir: string): boolean {
  if (adapter.install === null) return true;
  return existsSync(join(harnessDir(adapter, harnessesDir), 'node_modules/.bin', adapter.install.bin));
}

/**
 * Installs a harness from npm at its pinned version, with its own Node, into `<harnessesDir>/<name>-<version>`, and
 * returns that folder. Node goes first: npm picks an old version of a package whose `engines` ask for a newer Node.
 * Nothing is left of an installation that failed.
 * @throws EspalierError E_HARNESS_UNKNOWN, E_HARNESS_INSTALL
 */
export async function installHarness(
  name: string,
  harnessesDir: string,
  options: InstallOptions,
): Promise<string> {
  const adapter = findAdapter(name);
  const target = harnessDir(adapter, harnessesDir);
  const say = options.onProgress ?? (() => {});
  if (adapter.install === null) {
    say(`${name} comes with Espalier, nothing to install`);
    return target;
  }
  if (isInstalled(adapter, harnessesDir)) {
    say(`${name} ${adapter.version} is installed in ${target}`);
    return target;
  }
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  try {
    await fillFolder(adapter.install, partial, options);
    await rm(target, { recursive: true, force: true });
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
  say(`${name} ${adapter.version} is installed in ${target}`);
  return target;
}

async function fillFolder(recipe: InstallRecipe, folder: string, options: InstallOptions): Promise<void> {
  const say = options.onProgress ?? (() => {});
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  say(`installing node ${recipe.node}`);
  await runNpm(`node@${recipe.node}`, folder, options.env);
  const path = `${join(folder, 'node_modules/node/bin')}${delimiter}${options.env.PATH ?? ''}`;
  say(`installing ${recipe.package} ${recipe.version} (several hundred MB, this takes a while)`);
  await runNpm(`${recipe.package}@${recipe.version}`, folder, { ...options.env, PATH: path });
  const manifest = join(folder, 'node_modules', recipe.package, 'package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  if (version !== recipe.version || !existsSync(join(folder, 'node_modules/.bin', recipe.bin))) {
    throw new EspalierError(
      'E_HARNESS_INSTALL',
      `npm installed ${recipe.package} ${version} instead of a usable ${recipe.version}`,
    );
  }
}

function runNpm(what: string, cwd: string, env: InstallOptions['env']): Promise<void> {
  const args = ['install', '--save-exact', '--no-audit', '--no-fund', '--loglevel=error', what];
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-2_000);
    });
    const fail = (why: string): void => {
      reject(new EspalierError('E_HARNESS_INSTALL', `npm could not install ${what}: ${why}`));
    };
    child.on('error', (error) => fail(error.message));
    child.on('close', (code) => {
      const line = said.split('\n').find((text) => text.trim() !== '') ?? `exit code ${code}`;
      if (code === 0) resolve();
      else fail(line.replace(/^npm (ERR!|error) /, ''));
    });
  });
}

import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findAdapter, harnessAdapters } from '../../../../services/sandbox/adapters/findAdapter.ts';
import { installHarness, isInstalled } from '../../../../services/sandbox/adapters/installHarness.ts';
import { chooseIsolation } from '../../../../services/sandbox/chooseIsolation.ts';
import { makeFolder } from '../../../support/runHarness.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const context = {
  baseUrl: 'http://127.0.0.1:4000/r/TOKEN',
  apiKey: 'TOKEN',
  model: 'policy',
  instruction: 'Do "it".',
  workspace: '/w',
  home: '/h',
  nodePath: '/usr/bin/node',
  installDir: '/data/harnesses/x-1',
  extraArgs: ['--extra'],
};

describe('adapters', () => {
  it('give every harness the address, the key and the instruction', () => {
    for (const adapter of harnessAdapters) {
      const given = JSON.stringify([adapter.files(context), adapter.env(context), adapter.argv(context)]);
      expect(given).toContain('http://127.0.0.1:4000/r/TOKEN');
      expect(Object.values(adapter.env(context))).toContain('TOKEN');
      expect(adapter.argv(context)).toContain('Do "it".');
      expect(adapter.argv(context)).toContain('--extra');
      expect(adapter.readOnly(context).length).toBeGreaterThan(0);
      expect(adapter.isolationRequired).toBe(adapter.install !== null);
      expect(adapter.exitMeaning(0)).toBe('completed');
      expect(adapter.exitMeaning(1)).toBe('harnessError');
    }
  });

  it('configure the harnesses from npm as they ask for', () => {
    expect(findAdapter('claude-code').argv(context)).toEqual([
      '/data/harnesses/x-1/node_modules/.bin/claude',
      '-p',
      'Do "it".',
      '--dangerously-skip-permissions',
      '--output-format',
      'json',
      '--extra',
    ]);
    expect(findAdapter('codex').files(context)[0]?.text).toContain(
      'base_url = "http://127.0.0.1:4000/r/TOKEN/v1"',
    );
    const [models] = findAdapter('pi').files(context);
    expect(models?.path).toBe('.pi/agent/models.json');
    expect(JSON.parse(models?.text ?? '').providers.policy.api).toBe('openai-completions');
    expect(findAdapter('pi').env(context).PATH).toMatch(/^\/data\/harnesses\/x-1\/node_modules\/node\/bin:/);
  });

  it('names the known ones when asked for another', () => {
    expect(() => findAdapter('oak')).toThrow(/known: alder, birch, claude-code, codex, pi/);
  });
});

describe('chooseIsolation', () => {
  const [alder, pi] = [findAdapter('alder'), findAdapter('pi')];
  const bad = { ok: false, reason: 'bubblewrap (bwrap) is not installed' };

  it('isolates where it can, warns for bundled harnesses, refuses others', () => {
    expect(chooseIsolation(pi, { ok: true, reason: '' })).toEqual({ isolation: 'bubblewrap', warning: null });
    expect(chooseIsolation(alder, bad)).toMatchObject({
      isolation: 'process',
      warning: expect.stringContaining('bwrap'),
    });
    expect(() => chooseIsolation(pi, bad)).toThrow(/pi cannot be isolated here/);
    expect(() => chooseIsolation(alder, bad, 'bubblewrap')).toThrow(/cannot be isolated/);
    expect(chooseIsolation(pi, bad, 'process')).toEqual({ isolation: 'process', warning: null });
  });
});

describe('installHarness', () => {
  // Plays npm: the last argument is the package, the folder it fills is its working directory.
  function fakeNpm(body: string): { env: Record<string, string>; harnesses: string } {
    const folder = makeFolder();
    cleanups.push(folder.remove);
    mkdirSync(join(folder.path, 'bin'));
    writeFileSync(join(folder.path, 'bin/npm'), `#!/bin/sh\nfor last; do :; done\n${body}\n`);
    chmodSync(join(folder.path, 'bin/npm'), 0o755);
    return { env: { PATH: `${folder.path}/bin:/usr/bin:/bin` }, harnesses: join(folder.path, 'harnesses') };
  }
  const unpack = (version: string) => `echo "$last $PATH" >> ${'$'}{LOG:-/dev/null}
    mkdir -p node_modules/.bin node_modules/@mariozechner/pi-coding-agent
    touch node_modules/.bin/pi
    echo '{"version":"${version}"}' > node_modules/@mariozechner/pi-coding-agent/package.json`;

  it('installs node first, then the pinned version under it, once', async () => {
    const { env, harnesses } = fakeNpm(unpack('0.73.1'));
    const lines: string[] = [];
    const onProgress = (line: string) => lines.push(line);
    const folder = await installHarness('pi', harnesses, { env, onProgress });
    expect(folder).toBe(join(harnesses, 'pi-0.73.1'));
    expect(isInstalled(findAdapter('pi'), harnesses)).toBe(true);
    expect(lines).toEqual([
      'installing node 24.21.0',
      expect.stringContaining('installing @mariozechner/pi-coding-agent 0.73.1'),
      expect.stringContaining('is installed in'),
    ]);
    await installHarness('pi', harnesses, { env: { PATH: '/nowhere' } });
    await installHarness('alder', harnesses, { env: {} });
  });

  it.each([
    ['echo "npm error network is down" >&2; exit 1', 'could not install node@24.21.0: network is down'],
    [unpack('0.1.0'), 'installed @mariozechner/pi-coding-agent 0.1.0 instead of'],
  ])('leaves nothing of a failed installation: %#', async (body, message) => {
    const { env, harnesses } = fakeNpm(body);
    const failed = installHarness('pi', harnesses, { env });
    await expect(failed).rejects.toMatchObject({
      code: 'E_HARNESS_INSTALL',
      message: expect.stringContaining(message),
    });
    expect(existsSync(join(harnesses, 'pi-0.73.1'))).toBe(false);
    expect(existsSync(join(harnesses, 'pi-0.73.1.partial'))).toBe(false);
  });

  it('says when npm is not there', async () => {
    const { harnesses } = fakeNpm('');
    const failed = installHarness('pi', harnesses, { env: { PATH: '/nowhere' } });
    await expect(failed).rejects.toMatchObject({ code: 'E_HARNESS_INSTALL' });
  });
});

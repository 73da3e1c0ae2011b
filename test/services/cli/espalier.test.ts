import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { espalierBin } from '../../../services/cli/espalierBin.ts';
import { runCli } from '../../support/runCli.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const script = join(folder.path, 'script.jsonl');
writeFileSync(script, '{"text":"hello"}\n');

const start = (...args: string[]) => spawn(process.execPath, [espalierBin(), ...args], { cwd: folder.path });

async function ending(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = start(...args);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      text[name] += chunk.toString('utf8');
    });
  }
  const [code] = await once(child, 'close');
  return { code, ...text };
}

describe('espalier.js', () => {
  it('starts the program and passes its exit code on', async () => {
    expect(await ending('version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d/),
      stderr: '',
    });
    expect(await ending('runs', 'lst')).toMatchObject({ code: 2, stdout: '' });
  });

  it('serves the scripted engine until it is interrupted, and then ends with 130', async () => {
    const child = start('engine', 'scripted', '--script', script, '--json');
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { url } = JSON.parse(line) as { url: string };
    const body = { input_ids: [1, 2], sampling_params: { max_new_tokens: 9 }, return_logprob: true };
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${url}/generate`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(await reply.json()).toMatchObject({ meta_info: { finish_reason: { type: 'stop' } } });
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
  });
});

describe('engine', () => {
  it.each([
    [['engine'], 'engine needs an action'],
    [['engine', 'big'], 'there is no "engine big"'],
    [['engine', 'scripted'], 'engine scripted needs --script FILE'],
    [['engine', 'scripted', '--script', '/no/file'], 'cannot read /no/file'],
    [['engine', 'scripted', '--script', script, '--port', 'x'], '--port must be a whole number'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await runCli(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('says in one line that a port is in use', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await runCli(['engine', 'scripted', '--script', script, '--port', String(port)]);
    server.close();
    expect(code).toBe(3);
    expect(stderr).toBe(
      `error: port ${port} is in use\nfix: Choose another port, or stop the program that holds it.\n`,
    );
  });
});

describe('harness', () => {
  it('lists the known ones', async () => {
    const { json } = await runCli(['harness', 'list', '--json', '--data-dir', folder.path]);
    expect(json()).toMatchObject({
      harnesses: expect.arrayContaining([
        expect.objectContaining({ name: 'alder', installed: true, bundled: true }),
      ]),
    });
  });

  it('has nothing to install for a bundled one, and names an unknown one', async () => {
    expect((await runCli(['harness', 'install', 'alder', '--data-dir', folder.path])).code).toBe(0);
    const { json, code } = await runCli([
      'harness',
      'install',
      'nobody',
      '--json',
      '--data-dir',
      folder.path,
    ]);
    expect(json()).toMatchObject({ error: { code: 'E_HARNESS_UNKNOWN' } });
    expect(code).toBe(2);
  });
});

describe('doctor', () => {
  it('looks at everything and says what it found', async () => {
    const { json } = await runCli(['doctor', '--json', '--data-dir', folder.path]);
    const { checks } = json<{ checks: { name: string; state: string }[] }>();
    expect(checks.map(({ name }) => name)).toEqual([
      'node',
      'lmdb',
      'chdb',
      'bubblewrap',
      'python3',
      'ports',
      'disk',
      'data folder',
    ]);
    expect(checks.find(({ name }) => name === 'lmdb')?.state).toBe('ok');
  });

  it('ends with 3 where the data folder is of another version', async () => {
    const other = temporaryFolder();
    writeFileSync(join(other.path, 'format.json'), '{"version":99}');
    const { code, stdout } = await runCli(['doctor', '--data-dir', other.path]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^missing +data folder +.* has version 99/m);
    other.remove();
  });
});

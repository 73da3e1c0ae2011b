import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeTar } from '../../../infra/process/archive/tarFormat.ts';
import type { Isolation } from '../../../infra/process/sandbox/containment.ts';
import { probeBubblewrap } from '../../../infra/process/sandbox/probeBubblewrap.ts';
import { loadTask } from '../../../infra/process/task/loadTask.ts';
import { findAdapter } from '../../../services/sandbox/adapters/findAdapter.ts';
import { type RolloutOptions, runRollout } from '../../../services/sandbox/runRollout.ts';
import { verify } from '../../../services/verifier/verify.ts';
import { anthropicStream } from '../../support/anthropicStream.ts';
import { chatCompletionsStream } from '../../support/chatCompletionsStream.ts';
import { makeFolder } from '../../support/runHarness.ts';
import { type ScriptedReply, serveScript } from '../../support/scriptedModelServer.ts';

const probe = await probeBubblewrap();
if (!probe.ok) process.stderr.write(`skipped: rollouts in bubblewrap (${probe.reason})\n`);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const task = loadTask(fileURLToPath(new URL('../../../docs/examples/tasks/find-code', import.meta.url)));

async function rollout(
  harness: 'alder' | 'birch',
  script: readonly ScriptedReply[],
  more: Partial<RolloutOptions> = {},
) {
  const folder = makeFolder();
  const server = await serveScript(harness === 'alder' ? anthropicStream : chatCompletionsStream, script);
  cleanups.push(folder.remove, server.close);
  const dirs = {
    work: join(folder.path, 'work'),
    leases: join(folder.path, 'leases'),
    harnesses: join(folder.path, 'harnesses'),
  };
  const run = await runRollout({
    task,
    adapter: findAdapter(harness),
    baseUrl: server.url,
    token: 'token',
    isolation: 'process',
    dirs,
    limits: { wallMs: 20_000, graceMs: 100 },
    extraEnv: { BIRCH_TITLE: '0' },
    ...more,
  });
  if (existsSync(dirs.work)) expect(readdirSync(dirs.work)).toEqual([]);
  if (existsSync(dirs.leases)) expect(readdirSync(dirs.leases)).toEqual([]);
  return { run, requests: server.requests, folder: folder.path };
}

const use = (name: string, input: unknown, id = 'call1') => ({ id, name, input });
const solve: ScriptedReply[] = [
  { toolCalls: [use('read_file', { path: 'kelo.txt' })] },
  { toolCalls: [use('write_file', { path: 'answer.txt', content: 'dako' }, 'call2')] },
  { text: 'Done.' },
];
const shell = (command: string): ScriptedReply => ({ toolCalls: [use('shell', { command })] });

const modes: [Isolation, boolean][] = [
  ['process', true],
  ['bubblewrap', probe.ok],
];

describe.each(modes)('runRollout (%s)', (isolation, available) => {
  it.skipIf(!available).each(['alder', 'birch'] as const)('runs %s to a verified reward', async (harness) => {
    const { run, requests, folder } = await rollout(harness, solve, {
      isolation,
      extraArgs: ['--max-turns', '5'],
    });
    expect(run).toMatchObject({ outcome: 'completed', exitCode: 0, stdoutTail: 'Done.\n', detail: null });
    expect(requests).toHaveLength(3);
    const files = decodeTar(run.workspaceArchive ?? new Uint8Array()).map((entry) => entry.path);
    expect(files).toEqual(['answer.txt', 'kelo.txt']);
    const place = { isolation, scratchDir: join(folder, 'scratch'), leaseDir: join(folder, 'leases') };
    const verification = await verify({ task, workspaceArchive: run.workspaceArchive, ...place });
    expect(verification).toMatchObject({ kind: 'reward', reward: 1, passed: true });
  });

  it.skipIf(!available)('ends an agent at its wall limit and keeps its workspace', async () => {
    const { run } = await rollout('alder', [shell('echo x > made; sleep 60')], {
      isolation,
      limits: { wallMs: 1_000 },
    });
    expect(run.outcome).toBe('agentTimeout');
    expect(decodeTar(run.workspaceArchive ?? new Uint8Array()).map((entry) => entry.path)).toContain('made');
  });
});

describe('runRollout', () => {
  it('calls an exit code other than 0 the harness\u2019s error, workspace kept', async () => {
    const { run } = await rollout('birch', [{ status: 400 }]);
    expect(run).toMatchObject({
      outcome: 'harnessError',
      exitCode: 1,
      detail: expect.stringContaining('HTTP 400'),
    });
    expect(run.workspaceArchive).not.toBeNull();
  });

  it('is an infrastructure failure when stopped from outside', async () => {
    const { run } = await rollout('alder', [shell('sleep 60')], { signal: AbortSignal.timeout(400) });
    expect(run).toMatchObject({
      outcome: 'infrastructureFailure',
      workspaceArchive: null,
      detail: 'aborted',
    });
  });

  it('does not let an agent hide its failure by its workspace', async () => {
    const big = await rollout('alder', [shell('yes | head -c 5000 > big'), { text: 'ok' }], {
      maxWorkspaceBytes: 4_000,
    });
    expect(big.run).toMatchObject({ outcome: 'harnessError', workspaceArchive: null });
    expect(big.run.detail).toContain('more than 4000 bytes');
    const gone = await rollout('alder', [shell('rm -rf "$PWD"'), { text: 'ok' }]);
    expect(gone.run.outcome).not.toBe('infrastructureFailure');
    expect(decodeTar(gone.run.workspaceArchive ?? new Uint8Array())).toEqual([]);
  });

  it('lets a task tighten the limits only', async () => {
    const strict = { ...task, limits: { wallSeconds: 0.5 } };
    const { run } = await rollout('alder', [shell('sleep 60')], { task: strict });
    expect(run.outcome).toBe('agentTimeout');
  });

  it('says which harness is not installed', async () => {
    const missing = rollout('alder', [], { adapter: findAdapter('pi') });
    await expect(missing).rejects.toMatchObject({
      code: 'E_HARNESS_MISSING',
      fix: expect.stringContaining('espalier harness install pi'),
    });
  });
});

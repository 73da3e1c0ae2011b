import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../services/cli/commandTable.ts';
import { runCli } from '../../support/runCli.ts';

describe('the command line', () => {
  it('lists every command without being asked for one', async () => {
    const { code, stdout } = await runCli([]);
    expect(code).toBe(0);
    for (const { name, summary } of COMMANDS) expect(stdout).toContain(`${name.padEnd(10)}${summary}`);
  });

  it.each([
    ['help', 'runs'],
    ['runs', '--help'],
    ['runs', '-h'],
  ])('explains a command: %s %s', async (...args) => {
    const { code, stdout } = await runCli(args);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: espalier runs list');
    expect(stdout).toContain('--data-dir DIR');
  });

  it.each(COMMANDS.map((entry) => [entry.name, entry] as const))(
    '%s is what the list says',
    async (name, entry) => {
      const command = await entry.load();
      expect({ name: command.name, summary: command.summary }).toEqual({ name, summary: entry.summary });
      expect(command.usage.startsWith(name)).toBe(true);
      const { stdout } = await runCli([name, '--help']);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
      for (const [option, { hidden }] of Object.entries(command.options)) {
        if (hidden !== true) expect(stdout).toContain(`--${option} `);
      }
    },
  );

  it('prints its version', async () => {
    expect((await runCli(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [['rusn'], 'there is no command "rusn"; did you mean "runs"?'],
    [['xyzzyx'], 'there is no command "xyzzyx"'],
    [['runs', 'list', '--jsno'], 'there is no option --jsno; did you mean "json"?'],
    [['export', '--run'], '--run needs a value'],
    [['export', '--json=1'], '--json takes no value'],
    [['runs', 'list', 'a', 'b'], '"b" is one argument too many'],
    [['runs', 'lst'], 'there is no "runs lst"; did you mean "list"?'],
    [['runs'], 'runs needs an action'],
    [['export', '--run', 'r'], '--out is needed'],
    [['export', '--run', 'r', '--out', 'f', '--format', 'xml'], 'there is no export format "xml"'],
    [['config', 'show', '--log-level', 'loud'], 'there is no log level "loud"'],
  ])('%j ends with exit code 2 and one clear line', async (args, message) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .*\nfix: .*\n$/);
    expect(stderr).toContain(`error: ${message}`);
  });

  it('tells errors as one JSON document with --json', async () => {
    const result = await runCli(['runs', 'list', '--json', '--data-dir', '/nonexistent/folder']);
    expect(result.code).toBe(2);
    expect(result.stderr).toBe('');
    expect(result.json()).toEqual({
      error: {
        code: 'E_DATA_DIR_EMPTY',
        message: '/nonexistent/folder holds no runs',
        fix: 'Run `espalier demo` first, or give the --data-dir of an earlier run.',
      },
    });
  });

  it('ends with 130 when it was interrupted', async () => {
    expect((await runCli(['topics', 'apply'], { signal: AbortSignal.abort() })).code).toBe(130);
  });
});

describe('small commands', () => {
  it('topics apply has nothing to do on the embedded log', async () => {
    const { json, code } = await runCli(['topics', 'apply', '--json']);
    expect(code).toBe(0);
    expect(json()).toMatchObject({ log: 'embedded', created: [] });
  });

  it('schemas check passes', async () => {
    const { json, code } = await runCli(['schemas', 'check', '--json']);
    expect(json()).toMatchObject({ ok: true, problems: [] });
    expect(code).toBe(0);
  });
});

import type { Command } from '../command.ts';

/** `doctor`: what this machine has and lacks, and what to do about it. */
export const command: Command = {
  name: 'doctor',
  summary: 'what this machine has and lacks',
  usage: 'doctor [--data-dir DIR]',
  details: 'Exit code 0 when everything needed is there, 3 when something is missing.',
  options: {},
  async run({ dataDir, json, emit, out }) {
    const [programs, stores, folder, { wrapText }] = await Promise.all([
      import('../doctor/checkPrograms.ts'),
      import('../doctor/checkStores.ts'),
      import('../doctor/checkDataFolder.ts'),
      import('../text/wrapText.ts'),
    ]);
    const results = await Promise.all([
      programs.checkNode(),
      stores.checkLog(),
      stores.checkChdb(),
      programs.checkIsolation(),
      programs.checkPython(),
      stores.checkLoopback(),
      folder.checkDisk(dataDir),
      folder.checkDataFolder(dataDir),
    ]);
    const ok = results.every((r) => r.state !== 'missing');
    if (json) emit({ ok, checks: results });
    const width = Math.max(...results.map((r) => r.name.length));
    for (const { name, state, detail, fix } of results) {
      out(`${state.padEnd(8)} ${name.padEnd(width)}  ${detail}`);
      if (fix !== undefined) for (const line of wrapText(fix, 80)) out(`${' '.repeat(11 + width)}${line}`);
    }
    return ok ? 0 : 3;
  },
};

// A program that owns one endless sandbox; tests kill it. Argument: a folder.
import { join } from 'node:path';
import { runContained } from '../../infra/process/sandbox/runContained.ts';

const folder = process.argv[2] ?? '.';
const beat = 'while :; do echo x >> beat; sleep 0.03; done';
await runContained({
  argv: ['/bin/sh', '-c', `setsid sh -c '${beat}' & sleep 60`],
  cwd: folder,
  home: folder,
  isolation: 'process',
  limits: { wallMs: 60_000 },
  leaseDir: join(folder, 'leases'),
});

import type { Command } from './command.ts';

/** A command as the list shows it; the module behind it is loaded when it is called. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Every command, in the order in which help lists them. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'demo',
    summary: 'the whole loop on this machine: a small policy learns through two agent harnesses',
    load: () => import('./commands/demo.ts').then((m) => m.command),
  },
  {
    name: 'train',
    summary: 'a training run against the engines and tasks of a run file',
    load: () => import('./commands/train.ts').then((m) => m.command),
  },
  {
    name: 'up',
    summary: 'all services in one process',
    load: () => import('./commands/up.ts').then((m) => m.command),
  },
  {
    name: 'serve',
    summary: 'run one service as a process of its own',
    load: () => import('./commands/serve.ts').then((m) => m.command),
  },
  {
    name: 'rollout',
    summary: 'run rollouts of one task now and print verdicts and rewards',
    load: () => import('./commands/rollout.ts').then((m) => m.command),
  },
  {
    name: 'runs',
    summary: 'list, show or cancel runs',
    load: () => import('./commands/runs.ts').then((m) => m.command),
  },
  {
    name: 'show',
    summary: 'the tree of one rollout, trained tokens in brackets, every drop with its reason',
    load: () => import('./commands/show.ts').then((m) => m.command),
  },
  {
    name: 'assemble',
    summary: 'recorded events in, verdicts, samples and batches out: the pure pipeline',
    load: () => import('./commands/assemble.ts').then((m) => m.command),
  },
  {
    name: 'replay',
    summary: 'rebuild a run from its events, and compare or try another configuration',
    load: () => import('./commands/replay.ts').then((m) => m.command),
  },
  {
    name: 'sql',
    summary: 'a read-only query on the archive',
    load: () => import('./commands/sql.ts').then((m) => m.command),
  },
  {
    name: 'export',
    summary: 'the batches of a run as a file for a trainer',
    load: () => import('./commands/export.ts').then((m) => m.command),
  },
  {
    name: 'harness',
    summary: 'list the known harnesses, or install one at its pinned version',
    load: () => import('./commands/harness.ts').then((m) => m.command),
  },
  {
    name: 'engine',
    summary: 'serve the tiny policy, or canned replies, over HTTP',
    load: () => import('./commands/engine.ts').then((m) => m.command),
  },
  {
    name: 'config',
    summary: 'every setting, its value and where the value came from',
    load: () => import('./commands/config.ts').then((m) => m.command),
  },
  {
    name: 'topics',
    summary: 'create what the event log needs',
    load: () => import('./commands/topics.ts').then((m) => m.command),
  },
  {
    name: 'schemas',
    summary: 'check that the event schemas can be read by older and newer programs',
    load: () => import('./commands/schemas.ts').then((m) => m.command),
  },
  {
    name: 'doctor',
    summary: 'what this machine has and lacks',
    load: () => import('./commands/doctor.ts').then((m) => m.command),
  },
];

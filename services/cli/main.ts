import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { EspalierError } from '../../schemas/errors.ts';
import type { Command, CommandContext } from './command.ts';
import { COMMANDS } from './commandTable.ts';
import { commandHelp, programHelp } from './helpText.ts';
import { didYouMean } from './nearest.ts';
import { textOption } from './optionValues.ts';
import { printError } from './printError.ts';
import { type ReadArguments, readArguments } from './readArguments.ts';

/** The outside world of one call of the program. */
export interface World {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable;
  readonly signal: AbortSignal;
}

const INTERRUPTED = 130;

/**
 * Runs the program.
 * @returns exit code: 0 good, 1 the result is negative, 2 usage or bad input, 3 something it needs
 * is missing, 130 interrupted
 */
export async function main(world: World = processWorld()): Promise<number> {
  const [first = 'help', ...rest] = world.args;
  let json = world.args.includes('--json');
  try {
    if (first === 'help' || first === '--help' || first === '-h') return await printHelp(world, rest);
    if (first === '--version' || first === 'version') return await printVersion(world);
    const command = await loadCommand(first);
    const read = readArguments(command, rest);
    json = read.values.json === true;
    if (read.values.help === true) return await printHelp(world, [first]);
    const code = await command.run(await contextOf(world, command, read));
    return world.signal.aborted ? INTERRUPTED : code;
  } catch (error) {
    const told = error instanceof EspalierError && error.code === 'E_INTERRUPTED';
    if (world.signal.aborted && !told) return INTERRUPTED;
    const stack = world.args.includes('debug') || world.env.ESPALIER_LOG_LEVEL === 'debug';
    return printError(error, { stdout: world.stdout, stderr: world.stderr, json, stack });
  }
}

async function loadCommand(name: string): Promise<Command> {
  const entry = COMMANDS.find((c) => c.name === name);
  if (entry === undefined) {
    const near = didYouMean(name, [...COMMANDS.map((c) => c.name), 'help']);
    throw new EspalierError('E_USAGE', `there is no command "${name}"${near}`);
  }
  return await entry.load();
}

async function contextOf(world: World, command: Command, read: ReadArguments): Promise<CommandContext> {
  const { makeLogger } = await import('./makeLogger.ts');
  const { stdout, env } = world;
  const json = read.values.json === true;
  const level = textOption(read.values, 'log-level') ?? env.ESPALIER_LOG_LEVEL ?? command.logLevel ?? 'warn';
  return {
    values: read.values,
    positionals: read.positionals,
    json,
    dataDir: resolve(world.cwd, textOption(read.values, 'data-dir') ?? env.ESPALIER_DATA_DIR ?? '.espalier'),
    env,
    stdin: world.stdin,
    stdout,
    colour: stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && !json,
    columns: columnsOf(world),
    tableColumns: stdout.isTTY === true ? (stdout.columns ?? 0) : 0,
    out: (text) => void (json || stdout.write(`${text}\n`)),
    emit: (document) => void (json && stdout.write(`${JSON.stringify(document)}\n`)),
    log: makeLogger(world.stderr, level, json),
    signal: world.signal,
  };
}

async function printHelp(world: World, args: readonly string[]): Promise<number> {
  const name = args.find((arg) => !arg.startsWith('-'));
  const text =
    name === undefined
      ? programHelp(COMMANDS, columnsOf(world))
      : commandHelp(await loadCommand(name), columnsOf(world));
  world.stdout.write(`${text}\n`);
  return 0;
}

async function printVersion(world: World): Promise<number> {
  const { programVersion } = await import('./programVersion.ts');
  world.stdout.write(`${programVersion()}\n`);
  return 0;
}

const columnsOf = (world: World): number => Math.min(140, world.stdout.columns ?? 100);

/** The world of this process; SIGINT and SIGTERM abort its signal. */
function processWorld(): World {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => stop.abort());
  }
  // A reader that has seen enough (`| head`) is no fault of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    args: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: stop.signal,
  };
}

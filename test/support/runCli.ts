import { Readable, Writable } from 'node:stream';
import { main } from '../../services/cli/main.ts';

/** What a call of the program left behind. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The one JSON document on stdout, for calls with --json. */
  json<T = Record<string, unknown>>(): T;
}

/** Outside world of a call; all of it optional. */
export interface CliWorld {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  readonly signal?: AbortSignal;
}

/** Runs the command line in this process, with streams of its own. */
export async function runCli(args: readonly string[], world: CliWorld = {}): Promise<CliResult> {
  const [stdout, stderr] = [collector(), collector()];
  const code = await main({
    args,
    env: world.env ?? {},
    cwd: world.cwd ?? process.cwd(),
    stdin: Readable.from(world.stdin === undefined ? [] : [world.stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    signal: world.signal ?? new AbortController().signal,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text(), json: () => JSON.parse(stdout.text()) };
}

function collector(): { readonly stream: Writable; readonly text: () => string } {
  const parts: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      parts.push(chunk.toString('utf8'));
      done();
    },
  });
  return { stream, text: () => parts.join('') };
}

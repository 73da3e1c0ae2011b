import { type Child, startChild } from '../infra/process/startChild.ts';
import { EspalierError } from '../schemas/errors.ts';

/** An engine in a process of its own, so that arithmetic never delays a keep-alive. */
export interface EngineChild {
  readonly url: string;
  readonly child: Child;
}

/**
 * Starts the tiny policy as a child and waits until it says where it listens.
 * @param script the program through which children are started
 * @param signal ends the child while it is starting; once it listens it is the caller's
 * @throws EspalierError E_ENGINE when it ends first, E_INTERRUPTED when the signal ended it
 */
export async function startEngineChild(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<EngineChild> {
  const child = await startChild({
    script,
    args: ['engine', 'tiny', '--json', '--end-with-parent', ...args],
    output: 'pipe',
    env,
  });
  child.process.stderr?.pipe(process.stderr);
  const stop = () => void child.close();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.process.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const found = /"url":\s*"([^"]+)"/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    void child.exited.then((exit) => {
      const how = exit.signal ?? `exit code ${exit.code}`;
      reject(
        signal.aborted
          ? new EspalierError('E_INTERRUPTED', 'interrupted while the tiny engine started')
          : new EspalierError('E_ENGINE', `the tiny engine ended at its start (${how})`),
      );
    });
  }).finally(() => signal.removeEventListener('abort', stop));
  return { url, child };
}

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
 */
export async function startEngineChild(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<EngineChild> {
  const child = await startChild({
    script,
    args: ['engine', 'tiny', '--json', ...args],
    output: 'pipe',
    env,
  });
  child.process.stderr?.pipe(process.stderr);
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.process.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const found = /"url":\s*"([^"]+)"/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    void child.exited.then(({ code, signal }) => {
      reject(
        new EspalierError(
          'E_ENGINE',
          `the tiny engine ended at its start (${signal ?? `exit code ${code}`})`,
        ),
      );
    });
  });
  return { url, child };
}

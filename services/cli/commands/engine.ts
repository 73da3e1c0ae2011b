import { readFile } from 'node:fs/promises';
import type { Weights } from '../../../infra/engine/tiny/weights.ts';
import { EspalierError } from '../../../schemas/errors.ts';
import type { Command, CommandContext } from '../command.ts';
import { integerOption, textOption } from '../optionValues.ts';
import { END_WITH_PARENT, heedParent } from '../parentGone.ts';
import { subcommand } from '../subcommand.ts';
import { untilAborted } from '../untilAborted.ts';

/** `engine tiny`, `engine scripted`: an engine on a port of its own, until it is interrupted. */
export const command: Command = {
  name: 'engine',
  summary: 'serve the tiny policy, or canned replies, over HTTP',
  usage: 'engine tiny|scripted [--port P] [--script FILE] [--weights FILE] [--version V]',
  details: `Speaks SGLang's /generate: token ids in, token ids and log-probabilities out. Prints its URL when it listens and runs until it is interrupted.

A script is one reply a line: {"text": "..."} or {"tokenIds": [..]}, with "match" (a text that the prompt contains, or the number of the call), "repeat", "finishReason" and "delayMs" where they are wanted.`,
  options: {
    port: { type: 'string', placeholder: 'P', summary: 'port on 127.0.0.1 (default: any free one)' },
    script: { type: 'string', placeholder: 'FILE', summary: 'replies of the scripted engine' },
    weights: {
      type: 'string',
      placeholder: 'FILE',
      summary: 'weights of the tiny policy (default: its warm start)',
    },
    version: { type: 'string', placeholder: 'V', summary: 'name of the weights it starts with (default 0)' },
    seed: { type: 'string', placeholder: 'N', summary: 'seed of the warm start (default 0)' },
    'model-dir': {
      type: 'string',
      placeholder: 'DIR',
      summary: 'tokenizer of the scripted engine (default: the tiny model)',
    },
    ...END_WITH_PARENT,
  },
  positionals: { min: 0, max: 1 },
  async run(context) {
    const kind = subcommand('engine', context.positionals, ['tiny', 'scripted']);
    heedParent(context.values);
    const engine = kind === 'tiny' ? await startTiny(context) : await startScripted(context);
    context.emit({ url: engine.url });
    context.out(`${kind} engine listens on ${engine.url}`);
    await untilAborted(context.signal);
    await engine.close();
    return 0;
  },
};

function portOption(values: CommandContext['values']): number {
  const port = integerOption(values, 'port') ?? 0;
  if (port > 65_535) throw new EspalierError('E_USAGE', `--port must be at most 65535, not ${port}`);
  return port;
}

interface Running {
  readonly url: string;
  close(): Promise<void>;
}

async function startScripted({ values }: CommandContext): Promise<Running> {
  const path = textOption(values, 'script');
  if (path === undefined) throw new EspalierError('E_USAGE', 'engine scripted needs --script FILE');
  const [{ startScriptedEngine }, { readScript }, { loadModel }, { tinyModelDir }] = await Promise.all([
    import('../../../infra/engine/scripted.ts'),
    import('../../../infra/engine/scriptedReply.ts'),
    import('../../../infra/model/loadModel.ts'),
    import('../tinyModelDir.ts'),
  ]);
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new EspalierError('E_USAGE', `cannot read ${path}: ${cause.message}`, { cause });
  });
  const script = readScript(text);
  const model = loadModel(textOption(values, 'model-dir') ?? tinyModelDir());
  return await startScriptedEngine({ script, model, port: portOption(values) });
}

async function startTiny({ values }: CommandContext): Promise<Running> {
  const { startTinyEngine } = await import('../../../infra/engine/tiny/server.ts');
  const weights = await tinyWeights(textOption(values, 'weights'), integerOption(values, 'seed') ?? 0);
  const version = textOption(values, 'version') ?? '0';
  return await startTinyEngine({ weights, version, port: portOption(values) });
}

async function tinyWeights(path: string | undefined, seed: number): Promise<Weights> {
  if (path === undefined) {
    const { warmStart } = await import('../../../infra/engine/tiny/warmStart/warmStart.ts');
    return warmStart(seed);
  }
  const { deserializeWeights } = await import('../../../infra/engine/tiny/weights.ts');
  try {
    return deserializeWeights(await readFile(path));
  } catch (cause) {
    throw new EspalierError('E_USAGE', `cannot read the weights in ${path}: ${(cause as Error).message}`, {
      cause,
      fix: 'Give a file of weights of the tiny policy.',
    });
  }
}

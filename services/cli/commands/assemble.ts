import { once } from 'node:events';
import { EspalierError } from '../../../schemas/errors.ts';
import type { Command } from '../command.ts';
import { configOptions } from '../config/configOptions.ts';

/** What of the configuration decides what is trained. */
const SHOWN = [
  'algorithm',
  'estimator',
  'seed',
  'groupsPerBatch',
  'minGroupSize',
  'maxLeaves',
  'maxOffPolicySteps',
  'lossAggregation',
];

/** `assemble`: the pure pipeline over a recording. */
export const command: Command = {
  name: 'assemble',
  summary: 'recorded events in, verdicts, samples and batches out: the pure pipeline',
  usage: 'assemble [--config FILE] [events.jsonl] < events.jsonl > out.jsonl',
  details: `Reads events in the public JSON form (docs/events.md), one a line and in any order, from a file or from standard input. Writes TreeJudged, RolloutDropped, GroupDropped, GroupScored, TrainingSample and TrainingBatchCut, one a line; the output does not depend on the order of the input.

Where the recording holds a RunConfigured its settings are used, below those of flags, environment and file.`,
  options: configOptions(SHOWN),
  positionals: { min: 0, max: 1 },
  async run({ values, env, positionals, stdin, stdout, log }) {
    const [{ loadSchemas }, { eventJson }, { openRecording, readRecording }, { recordedConfig }] =
      await Promise.all([
        import('../../../schemas/loadSchemas.ts'),
        import('../../../schemas/eventJson.ts'),
        import('../assemble/readRecording.ts'),
        import('../assemble/recordedConfig.ts'),
      ]);
    const [{ assemble }, { resolveRunConfig }] = await Promise.all([
      import('../../../streams/assemble/assemble.ts'),
      import('../config/resolveRunConfig.ts'),
    ]);
    // Settings at fault are told before anything is read.
    resolveRunConfig({ values, env });
    const [file] = positionals;
    if (file === undefined && (stdin as { isTTY?: boolean }).isTTY === true) {
      throw new EspalierError('E_USAGE', 'there is no recording: name a file, or pipe one in');
    }
    const json = eventJson(loadSchemas());
    const events = await readRecording(file === undefined ? stdin : await openRecording(file), json);
    const { config, warnings } = resolveRunConfig({ values, env, defaults: recordedConfig(events) });
    for (const warning of warnings) log.warn(warning);
    for (const event of assemble(events, config)) {
      if (!stdout.write(`${json.write(event)}\n`)) await once(stdout, 'drain');
    }
    return 0;
  },
};

import type { Command } from '../command.ts';
import { flagOption, integerOption } from '../optionValues.ts';

/** `show <rolloutId>`: the tree of one rollout. */
export const command: Command = {
  name: 'show',
  summary: 'the tree of one rollout, trained tokens in brackets, every drop with its reason',
  usage: 'show <rolloutId> [--full] [--attempt N]',
  details:
    'Takes a rollout id or its first letters. `in` is what a call added to the input, `out` what the policy sampled; [trained] text stands in brackets. The tree is grown and judged anew from the recorded events, by the code of the pipeline, and compared with the verdicts on record.',
  options: {
    full: { type: 'boolean', summary: 'whole inputs instead of their beginning and end' },
    attempt: {
      type: 'string',
      placeholder: 'N',
      summary: 'draw this attempt (default: the one that counts)',
    },
  },
  positionals: { min: 1, max: 1 },
  async run({ positionals, values, dataDir, emit, out, colour, columns, log }) {
    const attempt = integerOption(values, 'attempt');
    const [
      { withLog },
      { findRollout },
      { readRolloutEvents },
      { describeRollout },
      { renderRollout },
      { decoderOf },
    ] = await Promise.all([
      import('../events/withLog.ts'),
      import('../events/findRun.ts'),
      import('../show/rolloutEvents.ts'),
      import('../show/describeRollout.ts'),
      import('../show/renderRollout.ts'),
      import('../show/decoderOf.ts'),
    ]);
    const { defaultRunConfig } = await import('../../../schemas/runConfig.ts');
    const { LIVE_VERSIONS } = await import('../../../streams/pipelineConfig.ts');
    const { settingsOf } = await import('../assemble/recordedConfig.ts');
    const events = await withLog(dataDir, async (eventLog) =>
      readRolloutEvents(eventLog, await findRollout(eventLog, positionals[0] ?? '')),
    );
    const [configured] = events.configured;
    const recorded = configured === undefined ? {} : settingsOf(configured);
    const config = { ...defaultRunConfig(), ...recorded };
    const { decode, problem } = decoderOf(events, config);
    if (problem !== null) log.warn(`token ids are shown undecoded: ${problem}`);
    const rollout = describeRollout(events, {
      decode,
      maxLeaves: config.maxLeaves,
      versions: LIVE_VERSIONS,
    });
    emit(rollout);
    out(renderRollout(rollout, { columns, colour, full: flagOption(values, 'full') }, attempt));
    return 0;
  },
};

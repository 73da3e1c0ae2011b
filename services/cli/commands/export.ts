import { resolve } from 'node:path';
import { EspalierError } from '../../../schemas/errors.ts';
import type { Command } from '../command.ts';
import { requiredOption, textOption } from '../optionValues.ts';

const FORMATS = ['jsonl'];

/** `export`: the training batches of a run as a file. */
export const command: Command = {
  name: 'export',
  summary: 'the batches of a run as a file for a trainer',
  usage: 'export --run RUN [--format jsonl] --out FILE',
  details:
    'Writes one TrainingSample a line and a TrainingBatchCut after the samples of each batch, in the public JSON form. The file appears under its name when it is whole.',
  options: {
    run: { type: 'string', placeholder: 'RUN', summary: 'run id, or its first letters' },
    format: { type: 'string', placeholder: 'NAME', summary: `${FORMATS.join(', ')} (the default)` },
    out: { type: 'string', placeholder: 'FILE', summary: 'the file to write' },
  },
  async run({ values, dataDir, emit, out }) {
    const format = textOption(values, 'format') ?? 'jsonl';
    if (!FORMATS.includes(format)) {
      throw new EspalierError('E_USAGE', `there is no export format "${format}"`, {
        fix: `Use --format ${FORMATS.join(' or ')}.`,
      });
    }
    const run = requiredOption(values, 'run');
    const path = resolve(requiredOption(values, 'out'));
    const [{ withLog }, { findRun }, { exportJsonLines }, { openLineFile }, { eventJson }, { loadSchemas }] =
      await Promise.all([
        import('../events/withLog.ts'),
        import('../events/findRun.ts'),
        import('../export/exportJsonLines.ts'),
        import('../export/lineFile.ts'),
        import('../../../schemas/eventJson.ts'),
        import('../../../schemas/loadSchemas.ts'),
      ]);
    const { runId, counts } = await withLog(dataDir, async (log) => {
      const found = await findRun(log, run);
      const file = await openLineFile(path);
      try {
        const written = await exportJsonLines(log, found, eventJson(loadSchemas()), file.write);
        await file.finish();
        return { runId: found, counts: written };
      } catch (error) {
        file.abandon();
        throw error;
      }
    });
    emit({ runId, format, out: path, ...counts });
    out(`${counts.samples} samples in ${counts.batches} batches of run ${runId}: ${path}`);
    return 0;
  },
};

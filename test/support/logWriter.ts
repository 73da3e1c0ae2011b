import { openLmdbLog } from '../../infra/log/openLmdbLog.ts';
import { partitionOf } from '../../schemas/partitionOf.ts';
import { sampleRunEnded } from './sampleEvents.ts';

// Child of the kill tests: commits pairs of records and offsets for ever, and prints each
// acknowledged number. Arguments: folder, name of the writer.
const [dir = '', name = ''] = process.argv.slice(2);
const log = await openLmdbLog({ dir });
const partition = partitionOf(name, log.partitions);
let at = await log.committed(name, 'scored-groups', partition);
for (;;) {
  const pair = ['a', 'b'].map((half) => ({
    topic: 'scored-groups' as const,
    event: sampleRunEnded(name, `${at}${half}`),
  }));
  await log.commit(name, pair, [{ topic: 'scored-groups', partition, from: at, to: at + 1n }]);
  at += 1n;
  process.stdout.write(`${at}\n`);
}

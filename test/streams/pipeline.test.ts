import { from, lastValueFrom, map, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import type { TrainingSample } from '../../schemas/generated/events.ts';
import { defaultRunConfig } from '../../schemas/runConfig.ts';
import type { RunEvent, RunRecord } from '../../streams/batch/runState.ts';
import type { GroupEvent } from '../../streams/group/groupState.ts';
import { pipeline } from '../../streams/pipeline.ts';
import { through } from '../../streams/stage.ts';
import { ids } from '../support/tree/events.ts';
import { rowLines } from '../support/tree/golden.ts';
import { script, system, tool, user } from '../support/tree/script.ts';

it('runs from calls and rewards to a batch, hop by hop', async () => {
  const [firstHop, secondHop] = pipeline(() => ({ ...defaultRunConfig(), groupsPerBatch: 1 }));
  const rollout = (id: string) =>
    script(ids(id))
      .call(`${id}-a`, { sees: [system('s'), user('u')], says: 'look' })
      .call(`${id}-b`, { after: `${id}-a`, sees: [tool('t')], says: 'done' });
  const events = [...rollout('r1').recorded(0, null, 2), ...rollout('r2').recorded(1, null, 2)];
  const scored = await lastValueFrom(from(events as GroupEvent[]).pipe(through(firstHop), toArray()));
  const records = scored.filter((e) => e.type === 'RolloutScored' || e.type === 'GroupScored');
  const batch = await lastValueFrom(
    from(records as RunEvent[]).pipe(
      map((event, offset): RunRecord => ({ event, offset })),
      through(secondHop),
      toArray(),
    ),
  );
  expect(batch.map(({ type }) => type)).toEqual(['TrainingSample', 'TrainingSample', 'TrainingBatchCut']);
  expect(rowLines(batch[0] as TrainingSample)).toEqual(['s: s u: u a: [look /] t: t a: [done /]']);
});

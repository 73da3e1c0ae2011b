import type { EspalierEvent } from '../../../schemas/generated/events.ts';

/** Counts of what a run came to, by name; names sort into the order in which they are told. */
export type Outcomes = Readonly<Record<string, number>>;

/** Counts verdicts, dropped rollouts and groups by reason, batches, samples and trained tokens. */
export function countOutcomes(events: readonly EspalierEvent[]): Outcomes {
  const counts: Record<string, number> = {};
  const add = (name: string, n = 1): void => {
    counts[name] = (counts[name] ?? 0) + n;
  };
  for (const event of events) {
    switch (event.type) {
      case 'TreeJudged':
        for (const { verdict, reason } of event.verdicts)
          add(`calls ${verdict}${reason === null ? '' : `, ${reason}`}`);
        break;
      case 'RolloutDropped':
        add(`rollouts dropped, ${event.reason}`);
        break;
      case 'GroupDropped':
        add(`groups dropped, ${event.reason}`);
        break;
      case 'GroupScored':
        add('groups scored');
        break;
      case 'TrainingBatchCut':
        add('batches');
        add('samples', event.samples);
        add('tokens trained', event.tokens.trained);
        break;
      default:
        break;
    }
  }
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

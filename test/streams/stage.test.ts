import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { feed, type Stage, through } from '../../streams/stage.ts';

interface Added {
  readonly id: string;
  readonly amount: number;
}

/** Emits the sum of a key once it reaches ten. */
const untilTen: Stage<Added, number, string> = {
  name: 'untilTen',
  key: ({ id }) => id,
  init: () => 0,
  step: (sum, { id, amount }) =>
    sum + amount >= 10 ? { done: true, out: [`${id}=${sum + amount}`] } : { state: sum + amount, out: [] },
};

const run = (events: readonly Added[], states?: Map<string, number>) =>
  lastValueFrom(from(events).pipe(through(untilTen, states), toArray()));

describe('through', () => {
  it('keeps keys apart and forgets a finished one', async () => {
    const states = new Map<string, number>();
    const out = await run(
      [
        { id: 'a', amount: 6 },
        { id: 'b', amount: 9 },
        { id: 'a', amount: 4 },
        { id: 'a', amount: 1 },
      ],
      states,
    );
    expect(out).toEqual(['a=10']);
    expect([...states]).toEqual([
      ['b', 9],
      ['a', 1],
    ]);
  });

  it('leaves nothing behind after many finished keys', async () => {
    const states = new Map<string, number>();
    const events = Array.from({ length: 10_000 }, (_, i) => ({ id: `k${i}`, amount: 10 }));
    expect(await run(events, states)).toHaveLength(10_000);
    expect(states.size).toBe(0);
  });

  it('carries open keys from one batch to the next', async () => {
    const states = new Map<string, number>();
    expect(await run([{ id: 'a', amount: 5 }], states)).toEqual([]);
    expect(await run([{ id: 'a', amount: 5 }], states)).toEqual(['a=10']);
  });

  it('passes a failure on', async () => {
    const failing: Stage<Added, number, string> = {
      ...untilTen,
      step: () => {
        throw new Error('broken');
      },
    };
    await expect(lastValueFrom(from([{ id: 'a', amount: 1 }]).pipe(through(failing)))).rejects.toThrow(
      'broken',
    );
  });
});

it('feed is the same step without RxJS', () => {
  const states = new Map<string, number>();
  expect(feed(untilTen, states, { id: 'a', amount: 11 })).toEqual(['a=11']);
  expect(states.size).toBe(0);
});

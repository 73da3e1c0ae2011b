import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelCalled } from '../../../schemas/generated/events.ts';
import { emptyTree } from '../../../streams/tree/callTree.ts';
import { evolve } from '../../../streams/tree/evolve.ts';
import { pathTokens } from '../../../streams/tree/pathTokens.ts';
import { finishTree } from '../../../streams/tree/prefixTree.ts';
import { script, system, tool, user } from '../../support/tree/script.ts';
import { decode } from '../../support/tree/words.ts';

const START = [system('s'), user('u')];
const grow = (calls: readonly ModelCalled[]) => calls.reduce(evolve, emptyTree());
/** `child<parent` for each call of the finished tree. */
const shape = (calls: readonly ModelCalled[]) =>
  finishTree(grow(calls)).nodes.map(({ call, parent }) => `${call.callId}<${parent?.call.callId ?? ''}`);

const linear = () =>
  script()
    .call('a', { sees: START, says: 'x' })
    .call('b', { after: 'a', sees: [tool('t')], says: 'y' })
    .call('c', { after: 'b', sees: [tool('t')], says: 'z' })
    .events();

describe('evolve', () => {
  it('gives the history of a call, id for id', () => {
    const tree = grow(linear());
    expect(decode(pathTokens(tree.nodes.get('c')!)).join(' ')).toBe(
      's: s u: u a: x / t: t a: y / t: t a: z /',
    );
    expect(tree.nodes.get('c')).toMatchObject({ inputLength: 15, depth: 17 });
  });

  it('lets calls wait for their parents and takes each once', () => {
    const [a, b, c] = linear() as [ModelCalled, ModelCalled, ModelCalled];
    const tree = grow([c, b, c]);
    expect(tree.nodes.size).toBe(0);
    expect([...tree.waitingIds].sort()).toEqual(['b', 'c']);
    evolve(evolve(tree, a), b);
    expect(tree.waitingIds.size).toBe(0);
    expect(shape([c, b, a, a, b])).toEqual(['a<', 'b<a', 'c<b']);
  });

  it('tells a call that extends another history than the one in the tree', () => {
    const [a, b] = linear() as [ModelCalled, ModelCalled];
    expect(grow([a, b]).broken.size).toBe(0);
    expect([...grow([a, { ...b, prefixTokenCount: 3 }]).broken]).toEqual(['b']);
    expect([...grow([a, { ...b, prefixDigest: '0'.repeat(16) }]).broken]).toEqual(['b']);
    expect([...grow([{ ...a, prefixTokenCount: 1 }]).broken]).toEqual(['a']);
  });

  it('lets calls that wait for each other wait', () => {
    const [a, b] = linear() as [ModelCalled, ModelCalled];
    expect(grow([{ ...a, parentCallId: 'b' }, b]).waitingIds.size).toBe(2);
  });
});

describe('finishTree', () => {
  it('attaches full inputs to the longest history they extend, in any order', () => {
    const calls = script()
      .call('a', { sees: START, says: 'x' })
      .call('b', { sees: [...START, 'a', tool('t')], says: 'y' })
      .call('c', { sees: [...START, 'a', tool('t'), 'b', tool('t')], says: 'z' })
      .call('d', { sees: [...START, 'a', tool('other')], says: 'w' })
      .call('e', { sees: [system('s'), user('v')], says: 'v' })
      .events();
    const wanted = ['a<', 'b<a', 'c<b', 'd<a', 'e<'];
    fc.assert(
      fc.property(fc.shuffledSubarray([...calls], { minLength: calls.length }), (shuffled) => {
        expect(shape(shuffled)).toEqual(wanted);
      }),
    );
  });

  it('attaches a full input to a call that was recorded as a delta', () => {
    const calls = linear();
    const full = script()
      .call('a', { sees: START, says: 'x' })
      .call('b', { after: 'a', sees: [tool('t')], says: 'y' });
    full.call('full', { sees: [...START, 'a', tool('t'), 'b', user('more')], says: 'w' });
    expect(shape([...full.events()].reverse())).toEqual(['a<', 'b<a', 'full<b']);
    expect(calls).toHaveLength(3);
  });

  it('makes byte-identical prompts siblings, even when the first reply was empty', () => {
    const calls = script()
      .call('a', { sees: START })
      .call('b', { sees: START, says: 'x' })
      .call('c', { sees: START, says: 'x' });
    expect(shape(calls.events())).toEqual(['a<', 'b<', 'c<']);
  });

  it('of equal histories takes the latest call, and never a later one than the call itself', () => {
    const calls = script()
      .call('a', { sees: START, says: 'x' })
      .call('b', { sees: START, says: 'x' })
      .call('c', { sees: [...START, 'a', tool('t')], says: 'y' })
      .call('d', { sees: START, says: 'x' });
    expect(shape(calls.events())).toEqual(['a<', 'b<', 'c<b', 'd<']);
  });

  it('keeps the rest of a cut history as context', () => {
    const calls = script()
      .call('a', { sees: START, says: 'x' })
      .call('b', { after: 'a', sees: [tool('long result')], says: 'y' })
      .call('c', { sees: [...START, 'a', tool('cut'), 'b', tool('t')], says: 'z' });
    const [, , c] = finishTree(grow(calls.events())).nodes;
    expect(c!.parent!.call.callId).toBe('a');
    expect(decode(c!.envTokenIds).join(' ')).toBe('t: cut a: y / t: t a:');
  });
});

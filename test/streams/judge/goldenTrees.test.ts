import { describe, expect, it } from 'vitest';
import { judged, keptLines, verdictLines } from '../../support/tree/golden.ts';
import { echo, script, system, tool, user } from '../../support/tree/script.ts';

const START = [system('be good'), user('fix it')];

describe('linear rollouts', () => {
  it('trains every reply once and nothing else', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look', calls: [{ name: 'read', arguments: '{"f":1}' }] })
      .call('a2', { after: 'a1', sees: [tool('text')], says: 'done' });
    const judgement = judged(calls.events());
    expect(verdictLines(judgement)).toEqual(['a1 main trained', 'a2 main trained']);
    expect(keptLines(judgement)).toEqual([
      's: be good u: fix it a: [look read({"f":1}) /] t: text a: [done /]',
    ]);
  });

  it('gives the same path from full inputs', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look' })
      .call('a2', { sees: [...START, 'a1', tool('text')], says: 'done' });
    expect(keptLines(judged(calls.events()))).toEqual([
      's: be good u: fix it a: [look /] t: text a: [done /]',
    ]);
  });

  it('keeps sampled ids where the harness echoes the reply in other words', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look {"a":1,"b":2}' })
      .call('a2', {
        sees: [...START, echo('look {"b":2,"a":1}'), tool('text')],
        says: 'done',
        echoes: ['a1'],
      });
    const judgement = judged(calls.events());
    expect(verdictLines(judgement)).toEqual(['a1 main trained', 'a2 main trained']);
    expect(judgement.segments).toBe(2);
    expect(keptLines(judgement)).toEqual([
      's: be good u: fix it a: [look {"a":1,"b":2} /]',
      's: be good u: fix it a: look {"b":2,"a":1} / t: text a: [done /]',
    ]);
  });
});

describe('retries', () => {
  it('makes byte-identical prompts siblings and supersedes the shorter one', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'oops' })
      .call('b1', { sees: START, says: 'look' })
      .call('b2', { after: 'b1', sees: [tool('text')], says: 'done' });
    const judgement = judged(calls.events());
    expect(verdictLines(judgement)).toEqual([
      'a1 main dropped superseded',
      'b1 main trained',
      'b2 main trained',
    ]);
    expect(judgement.leaves).toBe(2);
    expect(keptLines(judgement)).toEqual(['s: be good u: fix it a: [look /] t: text a: [done /]']);
  });

  it('of equally long attempts keeps the one with more sampled tokens, then the later one', () => {
    const longer = script()
      .call('a1', { sees: START, says: 'a long answer' })
      .call('b1', { sees: START, says: 'short' });
    expect(verdictLines(judged(longer.events()))).toEqual(['a1 main trained', 'b1 main dropped superseded']);
    const equal = script().call('a1', { sees: START, says: 'one' }).call('b1', { sees: START, says: 'two' });
    expect(verdictLines(judged(equal.events()))).toEqual(['a1 main dropped superseded', 'b1 main trained']);
  });

  it('keeps a malformed reply that the harness went on from', () => {
    const calls = script()
      .call('a1', { sees: START, says: '{broken' })
      .call('a2', { after: 'a1', sees: [user('that was no tool call')], says: 'done' });
    expect(verdictLines(judged(calls.events()))).toEqual(['a1 main trained', 'a2 main trained']);
  });

  it('drops a reply that was never delivered, unless a call extends it', () => {
    const alone = script()
      .call('a1', { sees: START, says: 'lost but longer' })
      .call('b1', { sees: START, says: 'got' });
    expect(verdictLines(judged(alone.events(), { undelivered: new Set(['a1']) }))).toEqual([
      'a1 main dropped undelivered',
      'b1 main trained',
    ]);
    const extended = script()
      .call('a1', { sees: START, says: 'x' })
      .call('a2', { after: 'a1', sees: [tool('t')], says: 'y' });
    expect(verdictLines(judged(extended.events(), { undelivered: new Set(['a1']) }))).toEqual([
      'a1 main trained',
      'a2 main trained',
    ]);
  });

  it('drops a reply cut by the token limit at the end of a path and keeps it where the path goes on', () => {
    const end = script()
      .call('a1', { sees: START, says: 'look' })
      .call('a2', {
        after: 'a1',
        sees: [tool('t')],
        says: 'never ending',
        fields: { finishReason: 'length' },
      });
    expect(verdictLines(judged(end.events()))).toEqual(['a1 main trained', 'a2 main dropped truncated']);
    const middle = end.call('a3', { after: 'a2', sees: [user('go on')], says: 'done' });
    expect(verdictLines(judged(middle.events()))).toEqual([
      'a1 main trained',
      'a2 main trained',
      'a3 main trained',
    ]);
  });

  it('drops an empty, an aborted and a failed reply at the end of a path', () => {
    const calls = script()
      .call('a1', { sees: START })
      .call('a2', { sees: START, says: 'part', fields: { finishReason: 'abort' } })
      .call('a3', { sees: START, says: 'no logprobs', fields: { rolloutLogprobs: new Float32Array(1) } })
      .call('a4', { sees: START, says: 'nan', fields: { rolloutLogprobs: Float32Array.of(-1, Number.NaN) } })
      .call('a5', { sees: START, says: 'mark', fields: { rolloutLogprobs: Float32Array.of(-9999, -1) } })
      .call('a6', { sees: START, says: 'good' });
    expect(verdictLines(judged(calls.events()))).toEqual([
      'a1 main dropped empty',
      'a2 main dropped aborted',
      'a3 main dropped failed',
      'a4 main dropped failed',
      'a5 main dropped failed',
      'a6 main trained',
    ]);
  });
});

describe('context', () => {
  const then = (fields: object, facts = {}) =>
    judged(
      script()
        .call('a1', { sees: START, says: 'look here', fields })
        .call('a2', {
          after: 'a1',
          sees: [tool('text')],
          says: 'done',
          fields: { policySpans: [{ version: '1', start: 0, end: 2 }] },
        })
        .events(),
      facts,
    );

  it.each([
    ['failed', { rolloutLogprobs: new Float32Array(0) }],
    ['aborted', { finishReason: 'abort' }],
    ['constrained', { constraint: 'grammar' }],
    ['constrained', { topP: 0.9 }],
    ['rawLogprobs', { logprobsMode: 'raw', temperature: 0.7 }],
  ])('keeps a %s call that a later one extends, without its tokens', (reason, fields) => {
    const judgement = then(fields);
    expect(verdictLines(judgement)).toEqual([`a1 main context ${reason}`, 'a2 main trained']);
    expect(keptLines(judgement)).toEqual(['s: be good u: fix it a: look here / t: text a: [done /]']);
  });

  it('takes raw log-probabilities at temperature 1', () => {
    expect(verdictLines(then({ logprobsMode: 'raw' }))[0]).toBe('a1 main trained');
  });

  it('does not train a call that names none of the published versions', () => {
    expect(verdictLines(then({}, { versions: new Set(['1', '2']) }))).toEqual([
      'a1 main context unknownVersion',
      'a2 main trained',
    ]);
    expect(verdictLines(then({}, { versions: 'named' }))[0]).toBe('a1 main context unknownVersion');
  });

  it('does not count context as length', () => {
    const judgement = judged(
      script()
        .call('a1', { sees: START, says: 'x', fields: { constraint: 'schema' } })
        .call('a2', { after: 'a1', sees: [tool('t')], says: 'y', fields: { constraint: 'schema' } })
        .call('b1', { sees: START, says: 'z' })
        .events(),
    );
    expect(verdictLines(judgement)).toEqual([
      'a1 main dropped superseded',
      'a2 main dropped superseded',
      'b1 main trained',
    ]);
  });
});

describe('over-branching', () => {
  it('drops the rollout with more main leaves than allowed, counted before pruning', () => {
    const calls = script();
    for (let i = 0; i < 3; i++) calls.call(`a${i}`, { sees: START, says: `try ${i}` });
    expect(judged(calls.events(), { maxLeaves: 3 })).toMatchObject({ leaves: 3, drop: null });
    expect(judged(calls.events(), { maxLeaves: 2 })).toMatchObject({ leaves: 3, drop: 'overBranching' });
  });
});

import { describe, expect, it } from 'vitest';
import { judged, keptLines, verdictLines } from '../../support/tree/golden.ts';
import { echo, script, system, tool, user } from '../../support/tree/script.ts';

const TASK = 'Read kelo.txt and write its code to answer.txt please';
const SUMMARY =
  'The agent has read kelo.txt and found that its code is dako so what is left is to write answer.txt';
const TOOLS = ['read_file', 'delegate'];
const START = [system('You are an agent with tools'), user(TASK)];

describe('the main thread', () => {
  it('is the earliest root that carries the instruction, in quotes, in a later user message or nearly', () => {
    for (const opening of [
      `"${TASK}"`,
      `Today is Monday.\n${TASK.replace(/ /g, '  ')}`,
      `${TASK} now`.replace('Read', 'read'),
    ]) {
      const calls = script()
        .call('title', { sees: [system('You write titles'), user(TASK)], says: 'Kelo', tools: [] })
        .call('a1', { sees: [system('sys'), user('environment'), user(opening)], says: 'done' });
      expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
        'title utility dropped utility',
        'a1 main trained',
      ]);
    }
  });

  it('is not found where no root carries the instruction, and the roots are shown', () => {
    const judgement = judged(
      script()
        .call('a1', { sees: [user('something else')], says: 'hi' })
        .events(),
      {
        instruction: TASK,
      },
    );
    expect(judgement).toMatchObject({ drop: 'noMainThread', leaves: 0 });
    expect(judgement.detail).toContain('a1: "something else"');
    expect(verdictLines(judgement)).toEqual(['a1 utility dropped utility']);
  });

  it('is the earliest root where the recording has no messages', () => {
    const calls = script().call('a1', { sees: START, says: 'done', bare: true });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual(['a1 main trained']);
  });

  it('is not a sub-agent that repeats the instruction', () => {
    const prompt = `${TASK} and report`;
    const calls = script()
      .call('a1', {
        sees: START,
        says: 'go',
        calls: [{ name: 'delegate', arguments: JSON.stringify({ prompt }) }],
      })
      .call('sub1', { sees: [system('You help'), user(`[Subagent Context] ${prompt}`)], says: 'reading' })
      .call('sub2', { after: 'sub1', sees: [tool('dako')], says: 'it is dako' })
      .call('head', { sees: START, says: 'me too', fields: { agentId: 'x' } })
      .call('a2', { after: 'a1', sees: [tool('it is dako')], says: 'done' });
    const judgement = judged(calls.events(), { instruction: TASK });
    expect(verdictLines(judgement)).toEqual([
      'a1 main trained',
      'sub1 subagent dropped subagent',
      'sub2 subagent dropped subagent',
      'head subagent dropped subagent',
      'a2 main trained',
    ]);
    expect(judgement.leaves).toBe(1);
  });

  it('may be named like the others by the harness', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'go', fields: { agentId: 'main' } })
      .call('s1', { sees: START, says: 'x', fields: { agentId: 'helper' } })
      .call('s2', { sees: START, says: 'x', fields: { agentId: 'main', parentAgentId: 'main' } })
      .call('a2', { after: 'a1', sees: [tool('t')], says: 'done', fields: { agentId: 'main' } });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      's1 subagent dropped subagent',
      's2 subagent dropped subagent',
      'a2 main trained',
    ]);
  });

  it('lends a sub-agent its history without taking its calls in', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'go' })
      .call('s1', { after: 'a1', sees: [user('look around')], says: 'x', fields: { agentId: 'helper' } })
      .call('s2', { after: 's1', sees: [tool('t')], says: 'y' })
      .call('a2', { after: 'a1', sees: [tool('t')], says: 'done' });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      's1 subagent dropped subagent',
      's2 subagent dropped subagent',
      'a2 main trained',
    ]);
  });

  it('knows system and tools of a call by the digest of its context', () => {
    const context = { system: 'You write titles', toolNames: [], tools: null };
    const calls = script()
      .call('t1', { sees: [user('something')], says: 'Title', fields: { context, contextDigest: 'd' } })
      .call('t2', { sees: [user(TASK)], says: 'Title', fields: { contextDigest: 'd' } })
      .call('a1', { sees: START, says: 'done' });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      't1 utility dropped utility',
      't2 utility dropped utility',
      'a1 main trained',
    ]);
  });

  it('is not a memory extractor that forks its turns under another system prompt', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look' })
      .call('memory', {
        sees: [system('Extract lasting facts from this talk'), user(TASK), 'a1', user('now extract')],
        says: 'none',
      })
      .call('m2', { after: 'memory', sees: [tool('saved')], says: 'and more of it' })
      .call('a2', { after: 'a1', sees: [tool('text')], says: 'done' });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      'memory utility dropped utility',
      'm2 utility dropped utility',
      'a2 main trained',
    ]);
  });

  it('begins again under an edited prompt: the attempt without successor is superseded', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'hm' })
      .call('b1', { sees: [START[0]!, user(`${TASK} [no visible output, try again]`)], says: 'look' })
      .call('b2', { after: 'b1', sees: [tool('text')], says: 'done' });
    const judgement = judged(calls.events(), { instruction: TASK });
    expect(verdictLines(judgement)).toEqual([
      'a1 main dropped superseded',
      'b1 main trained',
      'b2 main trained',
    ]);
    expect(judgement.segments).toBe(1);
  });

  it('keeps two threads that only share a system prompt apart', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look', tools: TOOLS })
      .call('s1', { sees: [START[0]!, user('count the files in the folder')], says: 'three', tools: TOOLS });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      's1 subagent dropped subagent',
    ]);
  });
});

describe('compaction', () => {
  const until = () =>
    script()
      .call('a1', {
        sees: START,
        says: 'look',
        calls: [{ name: 'read_file', arguments: '{"path":"kelo.txt"}' }],
      })
      .call('a2', {
        after: 'a1',
        sees: [tool('code: dako')],
        says: 'found it',
        calls: [{ name: 'think', arguments: '{}' }],
      });

  it('opens a segment with the continuation, whether it repeats the instruction or not', () => {
    for (const opening of [`${TASK} Summary: ${SUMMARY}`, `This session is being continued. ${SUMMARY}`]) {
      const calls = until()
        .call('sum', {
          after: 'a2',
          sees: [tool('ok'), user('Summarise')],
          says: `<analysis>let me see what there is</analysis><summary>${SUMMARY}</summary>`,
        })
        .call('b1', { sees: [START[0]!, user(opening)], says: 'write' })
        .call('b2', { after: 'b1', sees: [tool('ok')], says: 'done' });
      const judgement = judged(calls.events(), { instruction: TASK });
      expect(verdictLines(judgement)).toEqual([
        'a1 main trained',
        'a2 main trained',
        'sum compaction dropped compaction',
        'b1 main trained',
        'b2 main trained',
      ]);
      expect(judgement).toMatchObject({ segments: 2, leaves: 2 });
      expect(keptLines(judgement)).toHaveLength(2);
    }
  });

  it('is found in a call of its own with flattened history, echoed as an assistant message', () => {
    const calls = until()
      .call('sum', {
        sees: [system('You condense talks'), user('user: ... assistant: look found it')],
        says: SUMMARY,
        tools: [],
      })
      .call('b1', {
        sees: [START[0]!, user('What did we do so far?'), echo(SUMMARY), user('Continue')],
        says: 'done',
        echoes: ['sum'],
      });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      'a2 main trained',
      'sum compaction dropped compaction',
      'b1 main trained',
    ]);
  });

  it('is not a last answer that was kept, nor a sub-agent prompt that reappears', () => {
    const calls = script()
      .call('a1', {
        sees: START,
        says: 'look',
        calls: [{ name: 'delegate', arguments: JSON.stringify({ prompt: SUMMARY }) }],
      })
      .call('sub', {
        sees: [system('You help'), user(SUMMARY)],
        says: 'the code of that file is dako and I have checked it twice today',
      })
      .call('a2', {
        after: 'a1',
        sees: [tool('the code of that file is dako and I have checked it twice today')],
        says: 'done',
      });
    const judgement = judged(calls.events(), { instruction: TASK });
    expect(verdictLines(judgement)).toEqual([
      'a1 main trained',
      'sub subagent dropped subagent',
      'a2 main trained',
    ]);
    expect(judgement.segments).toBe(1);

    const answer = 'I have now written the code dako to the file answer.txt as the task asked me to do';
    const kept = script()
      .call('a1', { sees: START, says: answer })
      .call('sum', { sees: [system('You condense talks'), user('flattened')], says: SUMMARY, tools: [] })
      .call('b1', { sees: [START[0]!, user(SUMMARY), 'a1', user('go on')], says: 'fine' });
    expect(verdictLines(judged(kept.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      'sum compaction dropped compaction',
      'b1 main trained',
    ]);
  });

  it('happens more than once, and resamples a byte-identical continuation', () => {
    const second = `${SUMMARY} and that answer.txt is written but has not been read back so far by anyone`;
    const calls = until()
      .call('sum1', { after: 'a2', sees: [tool('ok'), user('Summarise')], says: SUMMARY })
      .call('b1', { sees: [START[0]!, user(SUMMARY)], says: 'lost' })
      .call('b2', { sees: [START[0]!, user(SUMMARY)], says: 'write' })
      .call('sum2', { after: 'b2', sees: [tool('ok'), user('Summarise')], says: second })
      .call('c1', { sees: [START[0]!, user(second)], says: 'done' });
    const judgement = judged(calls.events(), { instruction: TASK });
    expect(verdictLines(judgement).slice(2)).toEqual([
      'sum1 compaction dropped compaction',
      'b1 main dropped superseded',
      'b2 main trained',
      'sum2 compaction dropped compaction',
      'c1 main trained',
    ]);
    expect(judgement.segments).toBe(3);
  });

  it('needs twelve words', () => {
    const calls = until()
      .call('sum', {
        sees: [system('You condense talks'), user('x')],
        says: 'read kelo found dako write it',
        tools: [],
      })
      .call('b1', {
        sees: [system('other words entirely here now'), user('read kelo found dako write it')],
        says: 'x',
        tools: TOOLS,
      });
    expect(verdictLines(judged(calls.events(), { instruction: TASK })).slice(2)).toEqual([
      'sum utility dropped utility',
      'b1 subagent dropped subagent',
    ]);
  });
});

describe('rewritten history', () => {
  it('opens a segment and keeps both sides; reused turns are context on the new side', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look' })
      .call('a2', { after: 'a1', sees: [tool('text')], says: 'found' })
      .call('b1', {
        sees: [START[0]!, user(`${TASK} (edited)`), 'a1', tool('text'), 'a2', tool('more')],
        says: 'write',
      })
      .call('b2', { after: 'b1', sees: [tool('ok')], says: 'done' });
    const judgement = judged(calls.events(), { instruction: TASK });
    expect(verdictLines(judgement)).toEqual([
      'a1 main trained',
      'a2 main trained',
      'b1 main trained',
      'b2 main trained',
    ]);
    expect(judgement.segments).toBe(2);
    expect(keptLines(judgement)[1]).toMatch(
      /a: look \/ t: text a: found \/ t: more a: \[write \/] t: ok a: \[done \/]$/,
    );
  });

  it('supersedes only the turns that no later main call carries', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look' })
      .call('a2', { after: 'a1', sees: [tool('text')], says: 'gone' })
      .call('b1', { sees: [START[0]!, user(`${TASK} (edited)`), 'a1', tool('text')], says: 'instead' });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      'a2 main dropped superseded',
      'b1 main trained',
    ]);
  });

  it('keeps an aborted reply that the harness carries on, as context', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look' })
      .call('a2', { after: 'a1', sees: [tool('text')], says: 'par', fields: { finishReason: 'abort' } })
      .call('b1', {
        sees: [START[0]!, user(`${TASK} (resumed)`), 'a1', tool('text'), 'a2', user('go on')],
        says: 'tial',
      });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      'a2 main context aborted',
      'b1 main trained',
    ]);
  });

  it('goes back before a rewritten attempt: that attempt is superseded', () => {
    const again = (n: number) => [START[0]!, user(`${TASK} (attempt ${n})`), 'a1', tool('text')];
    const calls = script()
      .call('a1', { sees: START, says: 'look' })
      .call('b1', { sees: again(2), says: 'a long but lost answer' })
      .call('c1', { sees: again(3), says: 'done' });
    expect(verdictLines(judged(calls.events(), { instruction: TASK }))).toEqual([
      'a1 main trained',
      'b1 main dropped superseded',
      'c1 main trained',
    ]);
  });

  it('goes on in full inputs without opening a segment at every call', () => {
    const edited = [START[0]!, user(`${TASK} (edited)`), 'a1', tool('text')];
    const calls = script()
      .call('a1', { sees: START, says: 'look' })
      .call('b1', { sees: edited, says: 'write' })
      .call('b2', { sees: [...edited, 'b1', tool('ok')], says: 'done' });
    expect(judged(calls.events(), { instruction: TASK }).segments).toBe(2);
  });

  it('finds a fork in the middle of a thread', () => {
    const calls = script()
      .call('a1', { sees: START, says: 'look' })
      .call('a2', { after: 'a1', sees: [tool('text')], says: 'found' })
      .call('b1', { after: 'a1', sees: [tool('text (cut)'), 'a2', tool('more')], says: 'write' });
    const judgement = judged(calls.events(), { instruction: TASK });
    expect(verdictLines(judgement)).toEqual(['a1 main trained', 'a2 main trained', 'b1 main trained']);
    expect(keptLines(judgement)).toEqual([
      expect.stringMatching(/a: \[look \/] t: text a: \[found \/]$/),
      expect.stringMatching(/a: look \/ t: text \(cut\) a: found \/ t: more a: \[write \/]$/),
    ]);
  });

  it('is recognised in bare recordings by eight sampled ids in a row', () => {
    const eight = 'one two three four five six seven';
    const build = (says: string) =>
      script()
        .call('a1', { sees: START, says, bare: true, echoes: [] })
        .call('b1', { sees: [user(TASK), 'a1', tool('x')], says: 'done', bare: true, echoes: [] })
        .call('b2', { after: 'b1', sees: [tool('y')], says: 'really', bare: true, echoes: [] });
    expect(verdictLines(judged(build(eight).events()))).toEqual([
      'a1 main trained',
      'b1 main trained',
      'b2 main trained',
    ]);
    expect(verdictLines(judged(build('one two').events()))[1]).toBe('b1 subagent dropped subagent');
  });
});

import { describe, expect, it } from 'vitest';
import type { EspalierEvent, Message, ModelCalled } from '../../../../schemas/generated/events.ts';
import { describeRollout } from '../../../../services/cli/show/describeRollout.ts';
import { renderRollout } from '../../../../services/cli/show/renderRollout.ts';
import { rolloutEvents } from '../../../../services/cli/show/rolloutEvents.ts';
import { sampleCall, sampleRequest } from '../../../support/sampleEvents.ts';

// One token a character, so that a golden text can be read.
const ids = (text: string): Int32Array => Int32Array.from([...text].map((c) => c.codePointAt(0) ?? 0));
const decode = (tokens: ArrayLike<number>): string => String.fromCodePoint(...Array.from(tokens));

const message = (role: string, content: string): Message => ({
  role,
  content,
  reasoning: null,
  toolCalls: [],
  toolCallId: null,
  name: null,
});

function call(
  seq: number,
  parent: string | null,
  env: string,
  sampled: string,
  more: Partial<ModelCalled> = {},
) {
  return sampleCall({
    callId: `c${seq}`,
    seq,
    parentCallId: parent,
    envTokenIds: ids(env),
    sampledTokenIds: ids(sampled),
    rolloutLogprobs: new Float32Array(sampled.length).fill(-1),
    policySpans: [{ version: 'v3', start: 0, end: sampled.length }],
    newMessages: [message('user', env)],
    response: message('assistant', sampled),
    ...more,
  });
}

const base = { runId: 'run1', groupId: 'g1', rolloutId: 'r1', attempt: 0, at: 1 } as const;
const tools = { system: 'You act.', toolNames: ['shell'], tools: null };

/** A retry that goes on, and a title call beside it. */
const story: readonly EspalierEvent[] = [
  sampleRequest({ instruction: 'Write the code.' }),
  call(0, null, 'Write the code.', 'bad{', { context: tools }),
  call(1, 'c0', ' no such tool, try again\n', 'read'),
  call(2, 'c1', ' kelo:', 'lost'),
  call(3, 'c1', ' kelo:', 'done'),
  call(4, null, 'Give a title:', 'Kelo', { context: { ...tools, toolNames: [] } }),
  { type: 'ModelCallFailed', ...base, callId: 'c5', seq: 5, reason: 'engine', detail: '503' },
  {
    type: 'RolloutSealed',
    ...base,
    callCount: 6,
    callIds: ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'],
    undelivered: [],
  },
  {
    type: 'RolloutEnded',
    ...base,
    outcome: 'completed',
    exitCode: 0,
    detail: null,
    workspace: null,
    wallMs: 5,
  },
  { type: 'RewardGiven', ...base, reward: 0.5, criteria: { wrote: 0.2, fromFile: 0.3 }, flag: null },
];

const render = (events: readonly EspalierEvent[], full = false): string =>
  renderRollout(describeRollout(rolloutEvents(events), { decode, maxLeaves: 16, versions: 'ignored' }), {
    columns: 80,
    colour: false,
    full,
  });

describe('show', () => {
  it('draws a retry, a superseded attempt, a title call and a failed call', () => {
    expect(render(story)).toMatchInlineSnapshot(`
      "rollout r1
        run run1  group g1
        task task1  harness alder  train
        "Write the code."

      attempt 0  completed  6 calls  1 segment  2 main leaves  not settled yet

      ● call 0  main  trained  15 in, 4 out  stop  policy v3
      │ in  Write the code.
      │ out [bad{]
      ● call 1  main  trained  44 in, 4 out  stop  policy v3
      │ in   no such tool, try again↵
      │ out [read]
      │  ○ call 2  main  dropped, superseded  54 in, 4 out  stop  policy v3
      │    in   kelo:
      │    out lost
      ● call 3  main  trained  54 in, 4 out  stop  policy v3
        in   kelo:
        out [done]
      ● call 4  utility  dropped, utility  13 in, 4 out  stop  policy v3
        in  Give a title:
        out Kelo
      call 5  dropped, failed: engine: 503

      tokens     85 in the tree, 20 sampled, 12 trained
      reward     0.5 (wrote 0.2, fromFile 0.3)
      advantage  none
      group      open
      fate       running or waiting to be settled"
    `);
  });

  it('draws a sub-agent and the segment after a compaction', () => {
    const summary =
      'So far I looked into the file kelo.txt and found that its code is dako, which I still have to write down.';
    const helper = { system: 'You help.', toolNames: ['shell'], tools: null };
    expect(
      render([
        sampleRequest({ instruction: 'Write the code.' }),
        call(0, null, 'Write the code.', 'delegate', {
          context: tools,
          response: {
            ...message('assistant', ''),
            toolCalls: [{ id: 't1', name: 'delegate', arguments: '{"prompt":"Look into kelo.txt please."}' }],
          },
        }),
        call(1, null, 'Look into kelo.txt please.', 'dako', { context: helper }),
        call(2, 'c0', ' dako', 'read'),
        call(3, 'c2', ' Sum up.', summary),
        call(4, null, `Write the code. ${summary}`, 'write', { context: tools }),
        call(5, 'c4', ' ok', 'done'),
      ]),
    ).toMatchInlineSnapshot(`
      "rollout r1
        run run1  group g1
        task task1  harness alder  train
        "Write the code."

      attempt 0  running  6 calls  2 segments  2 main leaves  not settled yet

      ● call 0  main  trained  15 in, 8 out  stop  policy v3
      │ in  Write the code.
      │ out [delegate]
      ● call 2  main  trained  28 in, 4 out  stop  policy v3
      │ in   dako
      │ out [read]
      ● call 3  compaction  dropped, compaction  40 in, 105 out  stop  policy v3
        in   Sum up.
        out So far I looked into the file kelo.txt and found that its code is dako,
            which I still have to write down.
      ● call 1  subagent  dropped, subagent  26 in, 4 out  stop  policy v3
        in  Look into kelo.txt please.
        out dako
      ── segment 2: after a compaction ──
      ● call 4  main  trained  121 in, 5 out  stop  policy v3
      │ in  Write the code. So far I looked into the file kelo.txt and found that its
      │     code is dako, which I still have to write down.
      │ out [write]
      ● call 5  main  trained  129 in, 4 out  stop  policy v3
        in   ok
        out [done]

      tokens     308 in the tree, 130 sampled, 21 trained
      reward     none
      advantage  none
      group      open
      fate       running or waiting to be settled"
    `);
  });

  it('says what became of a scored rollout', () => {
    const text = render([
      ...story,
      {
        type: 'RolloutSettled',
        ...base,
        scoredAttempt: 0,
        outcome: 'scored',
        attempts: [{ attempt: 0, outcome: 'completed' }],
      },
      {
        type: 'GroupScored',
        runId: 'run1',
        groupId: 'g1',
        taskId: 'task1',
        harness: 'alder',
        rollouts: [{ rolloutId: 'r1', reward: 0.5, advantage: -1 }],
        size: 2,
        mean: 0.75,
        std: 0.25,
        excludedMeanReward: null,
      },
    ]);
    expect(text).toContain('counts');
    expect(text).toContain('group      scored, 1 of 2 scored, mean 0.75, std 0.25');
    expect(text).toContain('fate       its group waits for a batch');
  });

  it('names the reason of a dropped rollout and of a dropped group', () => {
    const dropped = { type: 'RolloutDropped', ...base, reason: 'tooLarge', detail: '17 MB' } as const;
    expect(render([...story, dropped])).toContain('fate       dropped: tooLarge (17 MB)');
    const group = {
      type: 'GroupDropped',
      runId: 'run1',
      groupId: 'g1',
      reason: 'zeroVariance',
      detail: null,
    } as const;
    expect(render([...story, group])).toContain('fate       its group is dropped: zeroVariance');
  });

  it('leaves the middle of a long input out unless asked for all of it', () => {
    const long = `Write the code. ${'abcdefghi '.repeat(50)}`;
    const events = [sampleRequest({ instruction: 'Write the code.' }), call(0, null, long, 'ok')];
    expect(render(events)).toContain('(516 tokens)');
    expect(render(events, true).replaceAll(/\s/g, '')).toContain('abcdefghi'.repeat(50));
  });

  it('shows ids where there is no tokenizer', () => {
    const shown = describeRollout(rolloutEvents(story), { decode: null, maxLeaves: 16, versions: 'ignored' });
    expect(renderRollout(shown, { columns: 80, colour: false, full: false })).toContain('[98 97 100 123]');
  });

  it('colours on a terminal only', () => {
    const shown = describeRollout(rolloutEvents(story), { decode, maxLeaves: 16, versions: 'ignored' });
    const text = renderRollout(shown, { columns: 80, colour: true, full: false });
    expect(text).toContain('\u001b[32m[done]\u001b[0m');
    expect(text).toContain('\u001b[31mlost\u001b[0m');
  });

  it('says when the verdicts on record are not those of the events', () => {
    const verdicts = [{ callId: 'c0', kind: 'main', verdict: 'dropped', reason: 'superseded' }];
    const judged = {
      type: 'TreeJudged',
      ...base,
      segments: 1,
      leaves: 1,
      verdicts,
      diagnostic: null,
    } as const;
    expect(render([...story, judged])).toContain('gives other verdicts than those on record');
  });

  it('has something to say about a rollout that has not started', () => {
    expect(render([sampleRequest()])).toContain('not started yet');
  });
});

import { describe, expect, it } from 'vitest';
import type {
  EspalierEvent,
  GroupScored,
  RolloutScored,
  TreeJudged,
} from '../../../schemas/generated/events.ts';
import { defaultRunConfig } from '../../../schemas/runConfig.ts';
import { closeGroup } from '../../../streams/group/closeGroup.ts';
import { judgeLateCall } from '../../../streams/group/corruptGroup.ts';
import type { GroupEvent, GroupOutput, GroupState } from '../../../streams/group/groupState.ts';
import type { PipelineConfig } from '../../../streams/pipelineConfig.ts';
import { feed } from '../../../streams/stage.ts';
import { ids, modelCalled, requested, rewarded, sealed, settled } from '../../support/tree/events.ts';
import { script, system, tool, user } from '../../support/tree/script.ts';

const config: PipelineConfig = defaultRunConfig();
const START = [system('s'), user('u')];

function close(events: readonly (EspalierEvent | GroupEvent)[], over: Partial<PipelineConfig> = {}) {
  const states = new Map<string, GroupState>();
  const stage = closeGroup(() => ({ ...config, ...over }));
  const out = events.flatMap((event) => feed(stage, states, event as GroupEvent));
  return { out, open: states.size };
}

const line = (event: GroupOutput): string => {
  switch (event.type) {
    case 'TreeJudged':
      return `${event.rolloutId}.${event.attempt} ${event.verdicts.map((v) => `${v.callId}:${v.reason ?? v.verdict}`).join(' ')}`;
    case 'RolloutDropped':
      return `${event.rolloutId}.${event.attempt} dropped ${event.reason}`;
    case 'RolloutScored':
      return `${event.rolloutId}.${event.attempt} scored ${event.reward}`;
    case 'GroupDropped':
      return `group dropped ${event.reason}`;
    case 'GroupScored':
      return `group scored ${event.rollouts.map((r) => r.rolloutId).join(' ')}`;
    case 'GroupClosed':
      return `closed ${event.outcome}: ${event.callIds.join(' ')}`;
  }
};
const lines = (events: readonly (EspalierEvent | GroupEvent)[], over: Partial<PipelineConfig> = {}) =>
  close(events, over).out.map(line);

const rollout = (id: string, attempt = 0) =>
  script(ids(id), attempt)
    .call(`${id}a${attempt}`, { sees: START, says: 'look' })
    .call(`${id}b${attempt}`, { after: `${id}a${attempt}`, sees: [tool('t')], says: 'done' });
const pair = (first = 0, second = 1) => [
  ...rollout('r1').recorded(first, null, 2),
  ...rollout('r2').recorded(second, null, 2),
];

describe('closing', () => {
  it('emits everything at once, the marker last, and forgets the group', () => {
    expect(lines(pair())).toEqual([
      'r1.0 r1a0:trained r1b0:trained',
      'r2.0 r2a0:trained r2b0:trained',
      'r1.0 scored 0',
      'r2.0 scored 1',
      'group scored r1 r2',
      'closed scored: r1a0 r1b0 r2a0 r2b0',
    ]);
    expect(close(pair()).open).toBe(0);
  });

  it('waits for every record that the outcome depends on, whichever comes last', () => {
    const events = pair();
    const whole = lines(events);
    events.forEach((event, i) => {
      const others = events.filter((_, j) => j !== i);
      expect(lines(others)).toEqual([]);
      expect(lines([...others, event])).toEqual(whole);
    });
  });

  it('waits for the calls of attempts that do not count, but not for a lost one', () => {
    const first = rollout('r1', 0).events();
    const second = rollout('r1', 1);
    const attempts = [
      { attempt: 0, outcome: 'infrastructureFailure' },
      { attempt: 1, outcome: 'completed' },
      { attempt: 2, outcome: 'lost' },
    ];
    const events = [
      requested(ids(), { groupSize: 1 }),
      ...second.events(),
      sealed(ids(), ['r1a1', 'r1b1'], { attempt: 1 }),
      rewarded(ids(), 1, 1),
      settled(ids(), 1, { attempts }),
      sealed(ids(), ['r1a0', 'r1b0']),
    ];
    const ppo = { algorithm: 'ppo' } as const;
    expect(lines(events, ppo)).toEqual([]);
    expect(lines([...events, ...first], ppo)).toEqual([
      'r1.0 r1a0:rollout r1b0:rollout',
      'r1.0 dropped unscoredAttempt',
      'r1.1 r1a1:trained r1b1:trained',
      'r1.1 scored 1',
      'group scored r1',
      'closed scored: r1a0 r1a1 r1b0 r1b1',
    ]);
  });

  it('takes the first reward and the first seal of an attempt', () => {
    const [request, a, b, seal, reward, settle] = rollout('r1').recorded(1) as [
      EspalierEvent,
      ...EspalierEvent[],
    ];
    const out = close(
      [request, seal!, sealed(ids(), ['r1a0']), reward!, rewarded(ids(), 0), a!, settle!, b!] as GroupEvent[],
      {
        algorithm: 'ppo',
      },
    ).out;
    expect(out.find((event) => event.type === 'RolloutScored')).toMatchObject({ reward: 1 });
    expect((out[0] as TreeJudged).verdicts.map((v) => v.verdict)).toEqual(['trained', 'trained']);
  });
});

describe('statistics', () => {
  it('leave out rollouts that failed for infrastructure reasons (invariant 6)', () => {
    const failed = [requested(ids('r3'), { groupSize: 3 }), settled(ids('r3'), null)];
    const three = [...rollout('r1').recorded(0, null, 3), ...rollout('r2').recorded(1, null, 3), ...failed];
    const { out } = close(three);
    expect(out.map(line)).toContain('r3.null dropped infrastructure');
    expect(out.find((event) => event.type === 'GroupScored')).toMatchObject({
      size: 3,
      mean: 0.5,
      std: 0.5,
      excludedMeanReward: null,
    });
    expect(out.filter((event): event is RolloutScored => event.type === 'RolloutScored')[0]!.group).toEqual({
      size: 3,
      scored: 2,
      mean: 0.5,
      std: 0.5,
    });
  });

  it('leave out a rollout of which nothing is trained, and report its reward beside', () => {
    const lame = script(ids('r3')).call('x', { sees: START, says: 'hi', fields: { constraint: 'grammar' } });
    const events = [
      ...rollout('r1').recorded(0, null, 3),
      ...rollout('r2').recorded(1, null, 3),
      ...lame.recorded(0.25, null, 3),
    ];
    const { out } = close(events);
    expect(out.map(line)).toContain('r3.0 dropped nothingTrainable');
    expect(out.map(line)).toContain('r3.0 x:rollout');
    const group = out.find((event) => event.type === 'GroupScored') as GroupScored;
    expect(group).toMatchObject({ mean: 0.5, excludedMeanReward: 0.25 });
    expect(group.rollouts.map((r) => r.advantage! > 0)).toEqual([false, true]);
  });

  it('give every rollout one reward however many trajectories it has', () => {
    const branched = rollout('r1').call('c', {
      after: 'r1a0',
      sees: [tool('cut'), 'r1b0', tool('t')],
      says: 'more',
    });
    const out = close([...branched.recorded(1, null, 2), ...rollout('r2').recorded(0, null, 2)]).out;
    const scored = out.filter((event): event is RolloutScored => event.type === 'RolloutScored');
    expect(scored.map((r) => r.keptLeaves.length)).toEqual([2, 1]);
    expect(scored[0]!.group).toMatchObject({ scored: 2, mean: 0.5 });
  });
});

describe('groups that are not trained', () => {
  it.each([
    ['zeroVariance', pair(1, 1)],
    [
      'tooSmall',
      [
        ...rollout('r1').recorded(1, null, 2),
        requested(ids('r2'), { groupSize: 2 }),
        settled(ids('r2'), null),
      ],
    ],
    ['evaluation', pair().map((e) => (e.type === 'RolloutRequested' ? { ...e, purpose: 'eval' } : e))],
    [
      'cancelled',
      [
        ...rollout('r1').recorded(1, null, 2),
        requested(ids('r2'), { groupSize: 2 }),
        settled(ids('r2'), null, { outcome: 'cancelled' }),
      ],
    ],
  ])('%s', (reason, events) => {
    const out = lines(events);
    expect(out.at(-2)).toBe(`group dropped ${reason}`);
    expect(out.at(-1)).toContain(`closed ${reason}`);
    expect(out[0]).toBe('r1.0 r1a0:trained r1b0:trained');
    expect(out.some((text) => text.includes('scored '))).toBe(false);
  });

  it('corrupt: at once, with the same verdict for calls before and after', () => {
    const corrupt: GroupEvent = { type: 'GroupCorrupt', runId: 'run', groupId: 'g1' };
    const [a, b] = rollout('r1').events();
    const { out, open } = close([a!, corrupt]);
    expect(out.map(line)).toEqual(['r1.0 r1a0:rollout', 'group dropped corrupt', 'closed corrupt: r1a0']);
    expect(open).toBe(0);
    const marker = out.find((event) => event.type === 'GroupClosed')!;
    expect(judgeLateCall(a!, marker)).toBeNull();
    expect(judgeLateCall(b!, marker)!.verdicts).toEqual([
      { callId: 'r1b0', kind: 'main', verdict: 'dropped', reason: 'rollout' },
    ]);
  });
});

describe('damaged and late calls', () => {
  const incomplete = (events: readonly (EspalierEvent | GroupEvent)[]) => lines(events, { algorithm: 'ppo' });

  it('a failed call has its verdict and does no harm', () => {
    const [request, a, b, , reward, settle] = rollout('r1').recorded(1) as EspalierEvent[];
    const failure = {
      ...ids(),
      type: 'ModelCallFailed',
      attempt: 0,
      callId: 'f',
      seq: 9,
      reason: 'engine',
      detail: null,
      at: 0,
    } as const;
    expect(
      incomplete([request!, a!, b!, failure, sealed(ids(), ['r1a0', 'r1b0', 'f']), reward!, settle!])[0],
    ).toBe('r1.0 r1a0:trained r1b0:trained f:failed');
  });

  it('an unreadable call counts as received and failed, and its rollout is incomplete', () => {
    const [request, a, , seal, reward, settle] = rollout('r1').recorded(1) as EspalierEvent[];
    const unreadable: GroupEvent = { type: 'CallUnreadable', ...ids(), attempt: 0, callId: 'r1b0' };
    expect(incomplete([request!, a!, unreadable, seal!, reward!, settle!])).toEqual([
      'r1.0 r1b0:failed r1a0:rollout',
      'r1.0 dropped incomplete',
      'group dropped tooSmall',
      'closed tooSmall: r1a0 r1b0',
    ]);
  });

  it('a call that breaks its digest is failed, and its rollout is incomplete', () => {
    const events = rollout('r1')
      .recorded(1)
      .map((e) => (e.type === 'ModelCalled' && e.callId === 'r1b0' ? { ...e, prefixDigest: 'bad' } : e));
    expect(incomplete(events).slice(0, 2)).toEqual([
      'r1.0 r1a0:rollout r1b0:failed',
      'r1.0 dropped incomplete',
    ]);
  });

  it('a call whose parent is not there makes its rollout incomplete', () => {
    const orphan = modelCalled({ ...ids(), callId: 'o', seq: 5, parentCallId: 'nowhere' });
    const [request, a, b, , reward, settle] = rollout('r1').recorded(1) as EspalierEvent[];
    expect(
      incomplete([request!, a!, b!, orphan, sealed(ids(), ['r1a0', 'r1b0', 'o']), reward!, settle!]).slice(
        0,
        2,
      ),
    ).toEqual(['r1.0 r1a0:rollout r1b0:rollout o:rollout', 'r1.0 dropped incomplete']);
  });

  it('a call that the seal does not count is late, by ids or by number', () => {
    const [request, a, b, , reward, settle] = rollout('r1').recorded(1) as EspalierEvent[];
    const wanted = 'r1.0 r1a0:trained r1b0:late';
    expect(incomplete([request!, b!, a!, sealed(ids(), ['r1a0']), reward!, settle!])[0]).toBe(wanted);
    expect(incomplete([request!, b!, a!, sealed(ids(), ['x'], { callIds: null }), reward!, settle!])[0]).toBe(
      wanted,
    );
  });

  it('a rollout that no record could hold is dropped', () => {
    expect(lines(pair(), { maxRecordBytes: 1300 })).toContain('r1.0 dropped tooLarge');
  });

  it('over-branching drops the rollout', () => {
    expect(
      lines(rollout('r1').call('x', { sees: START, says: 'y' }).recorded(1), { maxLeaves: 1 }),
    ).toContain('r1.0 dropped overBranching');
  });
});

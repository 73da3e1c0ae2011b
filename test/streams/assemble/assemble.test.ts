import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventJson } from '../../../schemas/eventJson.ts';
import type { EspalierEvent, GroupScored, TrainingSample } from '../../../schemas/generated/events.ts';
import { loadSchemas } from '../../../schemas/loadSchemas.ts';
import { defaultRunConfig } from '../../../schemas/runConfig.ts';
import { assemble } from '../../../streams/assemble/assemble.ts';
import { ended, ids, published, rewarded, sealed } from '../../support/tree/events.ts';
import { rowLines } from '../../support/tree/golden.ts';
import { script, system, tool, user } from '../../support/tree/script.ts';

const json = eventJson(loadSchemas());
const config = defaultRunConfig();

/** A group of two rollouts in the least that the public form asks for. */
const RECORDING = `
{"type":"Format","version":1}
{"type":"RolloutRequested","runId":"run","groupId":"g","rolloutId":"r1","taskId":"t","harness":"h","groupSize":2}
{"type":"RolloutRequested","runId":"run","groupId":"g","rolloutId":"r2","taskId":"t","harness":"h","groupSize":2}
{"type":"ModelCalled","runId":"run","groupId":"g","rolloutId":"r1","attempt":0,"callId":"a","seq":0,"envTokenIds":[1,2],"sampledTokenIds":[3,4],"rolloutLogprobs":[-0.1,-0.2],"policySpans":[{"version":"7","start":0,"end":2}],"finishReason":"tool_calls"}
{"type":"ModelCalled","runId":"run","groupId":"g","rolloutId":"r1","attempt":0,"callId":"b","seq":1,"envTokenIds":[1,2,3,4,5],"sampledTokenIds":[6],"rolloutLogprobs":[-0.3],"policySpans":[],"finishReason":"stop"}
{"type":"ModelCalled","runId":"run","groupId":"g","rolloutId":"r2","attempt":0,"callId":"c","seq":0,"envTokenIds":[1,2],"sampledTokenIds":[8],"rolloutLogprobs":[-0.4],"policySpans":[],"finishReason":"stop"}
{"type":"RolloutSealed","runId":"run","groupId":"g","rolloutId":"r1","attempt":0,"callCount":2}
{"type":"RolloutSealed","runId":"run","groupId":"g","rolloutId":"r2","attempt":0,"callCount":1}
{"type":"RolloutEnded","runId":"run","groupId":"g","rolloutId":"r1","attempt":0,"outcome":"completed"}
{"type":"RewardGiven","runId":"run","groupId":"g","rolloutId":"r1","attempt":0,"reward":1}
{"type":"RewardGiven","runId":"run","groupId":"g","rolloutId":"r2","attempt":0,"reward":0}
`;
const recording = RECORDING.split('\n').flatMap((text, i) => json.read(text, i + 1) ?? []);
const written = (events: readonly EspalierEvent[]) =>
  assemble(events, config).map((event) => json.write(event));

describe('assemble', () => {
  it('turns the least public form into verdicts, samples and a batch', () => {
    const out = assemble(recording, config);
    expect(out.map(({ type }) => type)).toEqual([
      'TreeJudged',
      'TreeJudged',
      'GroupScored',
      'TrainingSample',
      'TrainingSample',
      'TrainingBatchCut',
    ]);
    const sample = out.find((e): e is TrainingSample => e.type === 'TrainingSample' && e.rolloutId === 'r1')!;
    expect(JSON.parse(json.write(sample)).nodes).toMatchObject([
      { parent: -1, tokenIds: [1, 2, 3, 4], sampledFrom: 2, rolloutLogprobs: [-0.1, -0.2], callId: 'a' },
      { parent: 0, tokenIds: [5, 6], sampledFrom: 1, rolloutLogprobs: [-0.3], callId: 'b' },
    ]);
    expect(sample).toMatchObject({ keptLeaves: [1], reward: 1, tokens: { total: 6, trained: 3 } });
    expect(sample.advantage).toBeCloseTo(1, 5);
  });

  it('does not depend on the order of its lines, nor on repeated ones', () => {
    const wanted = written(recording);
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...recording], { minLength: recording.length }),
        fc.subarray([...recording]),
        (shuffled, repeated) => {
          expect(written([...repeated, ...shuffled])).toEqual(wanted);
        },
      ),
    );
  });

  it('takes the same one of two contradicting rewards whatever their order', () => {
    const contradiction = rewarded({ runId: 'run', groupId: 'g', rolloutId: 'r2' }, 0.5);
    expect(written([...recording, contradiction])).toEqual(written([contradiction, ...recording]));
  });

  it('settles by the highest rewarded attempt that is no infrastructure failure', () => {
    const attempt = (n: number) =>
      script(ids('r1', 'g'), n)
        .call(`x${n}`, { sees: [user('u')], says: `try ${n}` })
        .events();
    const r1 = { runId: 'run', groupId: 'g', rolloutId: 'r1' };
    const more = [1, 2].flatMap((n) => [
      ...attempt(n),
      sealed(r1, [`x${n}`], { attempt: n }),
      rewarded(r1, n, n),
    ]);
    const group = (events: readonly EspalierEvent[]) =>
      assemble([...recording, ...events], config).find((e): e is GroupScored => e.type === 'GroupScored')!;
    expect(group(more).rollouts[0]!.reward).toBe(2);
    expect(group([...more, ended(r1, 'infrastructureFailure', 2)]).rollouts[0]!.reward).toBe(1);
  });

  it('says what is missing', () => {
    const drops = (events: readonly EspalierEvent[]) =>
      assemble(events, { ...config, algorithm: 'ppo' }).flatMap((e) =>
        e.type === 'RolloutDropped' ? [`${e.rolloutId} ${e.reason}: ${e.detail}`] : [],
      );
    const without = (type: string) =>
      recording.filter((e) => e.type !== type || !('rolloutId' in e) || e.rolloutId !== 'r2');
    expect(drops(without('RolloutSealed'))).toEqual(['r2 incomplete: it was never sealed']);
    expect(drops(without('ModelCalled'))).toEqual(['r2 incomplete: 0 of 1 calls are there']);
    expect(drops(without('RewardGiven'))).toEqual(['r2 infrastructure: noReward']);
  });

  it('does not train calls of unknown versions once the recording names published ones', () => {
    const verdicts = assemble([...recording, published('7')], config).flatMap((e) =>
      e.type === 'TreeJudged' ? e.verdicts : [],
    );
    expect(verdicts.map((v) => `${v.callId} ${v.reason ?? v.verdict}`)).toEqual([
      'a trained',
      'b unknownVersion',
      'c rollout',
    ]);
  });

  it('drops stale groups by the newest policy of the recording', () => {
    const fresh = recording.map((e) =>
      e.type === 'ModelCalled' ? { ...e, policySpans: [{ version: '7', start: 0, end: 9 }] } : e,
    );
    const out = (versions: readonly string[]) =>
      assemble([...fresh, ...versions.map((v) => published(v))], config).at(-1)!;
    expect(out(['8', '7'])).toMatchObject({ type: 'TrainingBatchCut', policyStep: 1 });
    expect(out(['10', '7', '8', '9'])).toMatchObject({ type: 'GroupDropped', reason: 'stale' });
  });

  it('sorts groups by id before it cuts, and joins rewards by id whatever the number of rows', () => {
    const group = (id: string, rewards: readonly number[]) =>
      rewards.flatMap((reward, i) =>
        script(ids(`${id}-${i}`, id))
          .call(`${id}-${i}-a`, { sees: [system('s'), user('u')], says: 'x' })
          .call(`${id}-${i}-b`, { after: `${id}-${i}-a`, sees: [tool('t')], says: 'y' })
          .call(`${id}-${i}-c`, {
            after: `${id}-${i}-a`,
            sees: [tool('t2'), `${id}-${i}-b`, tool('z')],
            says: 'w',
          })
          .recorded(reward, null, rewards.length),
      );
    const out = assemble([...group('g2', [0, 0.5, 1]), ...group('g1', [1, 3])], {
      ...config,
      groupsPerBatch: 1,
    });
    expect(out.flatMap((e) => (e.type === 'TrainingBatchCut' ? [e.groups] : []))).toEqual([['g1'], ['g2']]);
    const samples = out.filter((e): e is TrainingSample => e.type === 'TrainingSample');
    expect(Object.fromEntries(samples.map((s) => [s.rolloutId, s.reward]))).toEqual({
      'g1-0': 1,
      'g1-1': 3,
      'g2-0': 0,
      'g2-1': 0.5,
      'g2-2': 1,
    });
    expect(rowLines(samples.find((s) => s.rolloutId === 'g1-0')!)).toEqual([
      's: s u: u a: [x /] t: t a: [y /]',
      's: s u: u a: x / t: t2 a: y / t: z a: [w /]',
    ]);
  });
});

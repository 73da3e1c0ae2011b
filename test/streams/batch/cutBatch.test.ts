import { describe, expect, it } from 'vitest';
import type { RolloutScored, TrainingBatchCut } from '../../../schemas/generated/events.ts';
import { batchIdOf } from '../../../schemas/ids.ts';
import { defaultRunConfig } from '../../../schemas/runConfig.ts';
import { type BatchOutput, cutBatch } from '../../../streams/batch/cutBatch.ts';
import {
  oldestNeeded,
  type RunEvent,
  type RunState,
  restoreFromManifest,
} from '../../../streams/batch/runState.ts';
import type { PipelineConfig } from '../../../streams/pipelineConfig.ts';
import { feed } from '../../../streams/stage.ts';
import { ids, published } from '../../support/tree/events.ts';

const config: PipelineConfig = {
  ...defaultRunConfig(),
  groupsPerBatch: 2,
  maxQueuedBatches: 1,
  maxOffPolicySteps: 1,
};

/** Two scored rollouts and the manifest of a group, sampled by the given versions. */
function group(
  groupId: string,
  versions: readonly string[] = ['v0'],
  harness = 'alder',
): readonly RunEvent[] {
  const stats = { size: 2, scored: 2, mean: 0.5, std: 0.5 };
  const rollouts = [0, 1].map(
    (reward): RolloutScored => ({
      type: 'RolloutScored',
      ...ids(`${groupId}-${reward}`, groupId),
      attempt: 0,
      taskId: 'task',
      harness,
      nodes: [
        {
          parent: -1,
          tokenIds: Int32Array.of(1, 2, 3),
          sampledFrom: 1,
          rolloutLogprobs: Float32Array.of(-1, -1),
          policySpans: versions.map((version, i) => ({ version, start: i, end: i + 1 })),
          callId: `${groupId}-${reward}-a`,
          temperature: 1,
          logprobsMode: 'processed',
          finishReason: 'stop',
        },
      ],
      keptLeaves: [0],
      reward,
      advantage: reward * 2 - 1,
      group: stats,
      tokens: { total: 3, trained: 2 },
    }),
  );
  const { rolloutId: _, ...key } = ids('', groupId);
  return [
    ...rollouts,
    {
      type: 'GroupScored',
      ...key,
      taskId: 'task',
      harness,
      rollouts: rollouts.map(({ rolloutId, reward, advantage }) => ({ rolloutId, reward, advantage })),
      size: 2,
      mean: 0.5,
      std: 0.5,
      excludedMeanReward: null,
    },
  ];
}
const ended = (reason = 'completed'): RunEvent => ({ type: 'RunEnded', runId: 'run', reason, at: 0 });

function run(
  events: readonly RunEvent[],
  over: Partial<PipelineConfig> = {},
  states = new Map<string, RunState>(),
  from = 0,
) {
  const stage = cutBatch(() => ({ ...config, ...over }));
  return events.flatMap((event, i) => feed(stage, states, { event, offset: from + i }));
}
const manifests = (out: readonly BatchOutput[]) =>
  out.filter((e): e is TrainingBatchCut => e.type === 'TrainingBatchCut');
const cutGroups = (out: readonly BatchOutput[]) => manifests(out).map((manifest) => manifest.groups);
const dropped = (out: readonly BatchOutput[]) =>
  out.flatMap((e) => (e.type === 'GroupDropped' ? [`${e.groupId} ${e.reason}`] : []));

describe('cutBatch', () => {
  it('cuts when enough groups are complete: samples first, then the manifest', () => {
    const out = run([...group('g1'), ...group('g2', ['v0'], 'birch')]);
    expect(out.map((e) => e.type)).toEqual([...Array(4).fill('TrainingSample'), 'TrainingBatchCut']);
    expect(out.at(-1)).toMatchObject({
      batchId: batchIdOf('run', 0),
      batchNumber: 0,
      groups: ['g1', 'g2'],
      samples: 4,
      tokens: { total: 12, trained: 8 },
      harnesses: { alder: 2, birch: 2 },
      inputOffset: 5,
      pendingGroups: [],
      lossAggregation: 'rolloutMean',
    });
    expect(run(group('g1'))).toEqual([]);
  });

  it('shuffles the groups into each other by seed and batch number alone', () => {
    const order = (seed: number) =>
      run([...group('g1'), ...group('g2')], { seed }).flatMap((e) =>
        e.type === 'TrainingSample' ? [e.rolloutId] : [],
      );
    expect(order(1)).toEqual(order(1));
    expect(new Set(Array.from({ length: 20 }, (_, seed) => order(seed).join())).size).toBeGreaterThan(5);
    expect(order(7).toSorted()).toEqual(['g1-0', 'g1-1', 'g2-0', 'g2-1']);
  });

  it('waits for the trainer, and goes on where it caught up', () => {
    const six = ['g1', 'g2', 'g3', 'g4', 'g5', 'g6'].flatMap((id) => group(id));
    const lax = { maxOffPolicySteps: 9 };
    expect(cutGroups(run(six, lax))).toEqual([['g1', 'g2']]);
    expect(cutGroups(run([...six, published('v0', -1), published('v1', 0)], lax))).toHaveLength(2);
    expect(cutGroups(run([...six, published('v1', 0), published('v2', 1)], lax))).toHaveLength(3);
    expect(cutGroups(run(six, { maxQueuedBatches: 3 }))).toHaveLength(3);
  });

  it('judges staleness at the cut, by the oldest span', () => {
    const policies = [published('v0', -1), published('v1'), published('v1'), published('v2')];
    const events = [
      ...policies,
      ...group('g1', ['v2', 'v0']),
      ...group('g2', ['v1']),
      ...group('g3', ['v2']),
    ];
    const out = run(events);
    expect(dropped(out)).toEqual(['g1 stale']);
    expect(manifests(out)[0]).toMatchObject({ groups: ['g2', 'g3'], staleGroups: ['g1'], policyStep: 2 });
  });

  it('counts a version that was never published as one step older than the first', () => {
    const events = [...group('g1', ['base']), ...group('g2', ['base'])];
    expect(cutGroups(run([published('v0'), ...events]))).toEqual([['g1', 'g2']]);
    expect(dropped(run([published('v0'), published('v1'), ...events]))).toEqual(['g1 stale', 'g2 stale']);
  });

  it('at the end cuts what is left, or drops it when the run was cancelled', () => {
    const events = [...group('g1'), ...group('g2'), ...group('g3'), ...group('g4').slice(0, 2)];
    const states = new Map<string, RunState>();
    const out = run([...events, ended()], {}, states);
    expect(cutGroups(out)).toEqual([['g1', 'g2'], ['g3']]);
    expect(dropped(out)).toEqual(['g4 runEnded']);
    expect(states.size).toBe(0);
    expect(dropped(run([...events, ended('cancelled')]))).toEqual(['g3 runEnded', 'g4 runEnded']);
  });

  it('a dropped group lets go of its rollouts, and its own drops may come back', () => {
    const drop: RunEvent = {
      type: 'GroupDropped',
      runId: 'run',
      groupId: 'g1',
      reason: 'stale',
      detail: null,
    };
    expect(cutGroups(run([...group('g1'), drop, ...group('g2'), drop, ...group('g3')]))).toEqual([
      ['g2', 'g3'],
    ]);
  });
});

describe('restoreFromManifest', () => {
  it('goes on after any manifest as if nothing had happened', () => {
    const names = Array.from({ length: 12 }, (_, i) => `g${i}`);
    const events = names.flatMap((id, i) => [
      ...group(id, [`v${Math.max(0, Math.floor(i / 3) - (i % 4))}`]),
      ...(i % 3 === 2 ? [published(`v${(i + 1) / 3}`, (i + 1) / 3 - 1)] : []),
    ]);
    const all: RunEvent[] = [
      published('v0', -1),
      ...group('slow').slice(0, 1),
      ...events,
      ...group('slow').slice(1),
      ended(),
    ];
    const whole = run(all);
    expect(manifests(whole).length).toBeGreaterThan(2);
    for (const manifest of manifests(whole).slice(0, -1)) {
      const states = new Map([['run', restoreFromManifest(manifest)]]);
      const rest = run(all, {}, states);
      expect(rest).toEqual(whole.slice(whole.indexOf(manifest) + 1));
    }
  });

  it('names the oldest record it still needs', () => {
    const states = new Map<string, RunState>();
    run([published('v0'), ...group('g1').slice(0, 1), ...group('g2'), ...group('g3')], {}, states);
    expect(oldestNeeded(states.get('run')!)).toBe(1);
    run(group('g1').slice(1), {}, states, 8);
    run(group('g4'), { maxQueuedBatches: 9 }, states, 10);
    expect(oldestNeeded(states.get('run')!)).toBeNull();
  });
});

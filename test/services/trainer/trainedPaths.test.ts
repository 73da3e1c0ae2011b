import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lossWeights } from '../../../services/trainer/lossWeights.ts';
import { countTrainedTokens, trainedPaths } from '../../../services/trainer/trainedPaths.ts';
import { treeNode } from '../../support/treeNode.ts';

const sizes = fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.nat(4)), { minLength: 1, maxLength: 12 });

describe('trainedPaths', () => {
  it('visits every sampled token of every kept path once, whatever the tree', () => {
    fc.assert(
      fc.property(sizes, (shape) => {
        const nodes = shape.map(([parent, context, sampled], i) =>
          treeNode({
            parent: i === 0 ? -1 : (parent % (i + 1)) - 1,
            context: new Array(context).fill(1),
            sampled: new Array(sampled).fill(2),
          }),
        );
        const parents = new Set(nodes.map(({ parent }) => parent));
        const keptLeaves = nodes.map((_, i) => i).filter((i) => !parents.has(i));
        const paths = trainedPaths({ nodes, keptLeaves });
        const visits = paths.flat().filter(({ trained }) => trained);
        expect(new Set(visits.map(({ index }) => index)).size).toBe(visits.length);
        const sampled = nodes.reduce((sum, n) => sum + n.tokenIds.length - n.sampledFrom, 0);
        expect(countTrainedTokens({ nodes, keptLeaves })).toBe(sampled);
        for (const path of paths) {
          path.forEach(({ node }, i) => {
            expect(node.parent).toBe(i === 0 ? -1 : path[i - 1]!.index);
          });
        }
      }),
    );
  });

  it('refuses a tree that is none', () => {
    const loop = [
      treeNode({ parent: 1, context: [], sampled: [2] }),
      treeNode({ parent: 0, context: [], sampled: [2] }),
    ];
    expect(() => trainedPaths({ nodes: loop, keptLeaves: [0] })).toThrow(/cycle/);
    expect(() => trainedPaths({ nodes: [], keptLeaves: [3] })).toThrow(/no node 3/);
  });
});

describe('lossWeights', () => {
  it('adds up to the share of the batch that each aggregation means', () => {
    const counts = [10, 30, 0];
    const shares = (weights: number[]) => weights.map((weight, i) => weight * counts[i]!);
    expect(shares(lossWeights(counts, { kind: 'tokenMean' }))).toEqual([0.25, 0.75, 0]);
    for (const [i, share] of shares(lossWeights(counts, { kind: 'rolloutMean' })).entries()) {
      expect(share).toBeCloseTo(i < 2 ? 1 / 3 : 0, 12);
    }
    expect(lossWeights(counts, { kind: 'constant', length: 20 })).toEqual([1 / 60, 1 / 60, 0]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextState } from '../../../../infra/engine/tiny/contextState.ts';
import { Distribution } from '../../../../infra/engine/tiny/distribution.ts';
import { Features } from '../../../../infra/engine/tiny/features.ts';
import { rngFromSeed } from '../../../../infra/engine/tiny/rng.ts';
import { sampleReply } from '../../../../infra/engine/tiny/sampleReply.ts';
import { TinyChat } from '../../../../infra/engine/tiny/tinyChat.ts';
import { loadVocabulary } from '../../../../infra/engine/tiny/vocabulary.ts';
import { warmStart } from '../../../../infra/engine/tiny/warmStart/warmStart.ts';
import {
  deserializeWeights,
  serializeWeights,
  type Weights,
  zeroWeights,
} from '../../../../infra/engine/tiny/weights.ts';

const vocabulary = loadVocabulary();
const chat = new TinyChat();
const weights = warmStart(3, 30);
const prompt = chat.prompt([{ role: 'user', content: 'Take mulo.txt to the hills.' }]);
const bytesOf = ({ values }: Weights) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);
const options = (seed: number, temperature = 1) => ({
  maxNewTokens: 40,
  temperature,
  stopIds: new Set([vocabulary.turnEnd]),
  rng: rngFromSeed(seed),
});

describe('the tiny policy', () => {
  it('is decided by its seeds: weights by one, a reply by the other', () => {
    expect(bytesOf(warmStart(3, 30)).equals(bytesOf(weights))).toBe(true);
    expect(sampleReply(vocabulary, weights, prompt, options(5))).toEqual(
      sampleReply(vocabulary, weights, prompt, options(5)),
    );
  });

  it('reports the log-probability a reader of the same ids computes, at any temperature', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.constantFrom(0.5, 1, 1.7), (seed, temperature) => {
        const reply = sampleReply(vocabulary, weights, prompt, options(seed, temperature));
        const state = new ContextState(vocabulary);
        const features = new Features();
        const distribution = new Distribution(vocabulary.size);
        for (const id of prompt) state.append(id);
        for (const { id, logprob } of reply) {
          features.collect(state);
          distribution.compute(weights, features, temperature);
          expect(distribution.probs.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 9);
          expect(distribution.logProb(id)).toBe(logprob);
          expect(Math.exp(logprob)).toBeCloseTo(distribution.probs[id] as number, 9);
          state.append(id);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('gives every token a chance: nothing is masked', () => {
    const state = new ContextState(vocabulary);
    for (const id of prompt) state.append(id);
    const features = new Features();
    features.collect(state);
    const distribution = new Distribution(vocabulary.size);
    distribution.compute(weights, features, 1);
    expect(Math.min(...distribution.probs)).toBeGreaterThan(0);
  });

  it('knows where a call stands, however its text was cut into tokens', () => {
    const reply = '<tool_call>\n{"name": "shell", "arguments": {"command": "mu';
    const rowsOf = (ids: readonly number[]) => {
      const state = new ContextState(vocabulary);
      for (const id of [...prompt, ...ids]) state.append(id);
      const features = new Features();
      features.collect(state);
      return [features.copyTokens.slice(), state.reply.tool, state.reply.lastKey, state.reply.words];
    };
    expect(rowsOf([...Buffer.from(reply)])).toEqual(rowsOf(chat.encode(reply)));
  });

  it('proposes to copy words of the conversation, and goes on with a word once it has begun', () => {
    const state = new ContextState(vocabulary);
    const ids = chat.encode('<tool_call>\n{"name": "shell", "arguments": {"command": "');
    for (const id of [...prompt, ...ids]) state.append(id);
    const features = new Features();
    features.collect(state);
    expect(features.copyTokens).toHaveLength(5);
    const [first, second] = chat.encode('mulo.txt');
    expect(features.copyTokens).toContain(first);
    state.append(first as number);
    features.collect(state);
    expect(features.copyTokens).toEqual([second]);
  });
});

describe('a weights file', () => {
  it('gives back the weights bit for bit', () => {
    expect(bytesOf(deserializeWeights(serializeWeights(weights))).equals(bytesOf(weights))).toBe(true);
  });

  it('is refused with the reason when it is something else', () => {
    const bytes = serializeWeights(zeroWeights(vocabulary.size));
    const changed = (at: number) => {
      const copy = bytes.slice();
      copy[at] = 99;
      return copy;
    };
    expect(() => deserializeWeights(bytes.subarray(0, 8))).toThrow(/shorter than its header/);
    expect(() => deserializeWeights(changed(0))).toThrow(/not a weights file/);
    expect(() => deserializeWeights(changed(4))).toThrow(/format 99/);
    expect(() => deserializeWeights(changed(12))).toThrow(/other feature sizes/);
    expect(() => deserializeWeights(bytes.subarray(0, bytes.length - 4))).toThrow(/bytes/);
  });
});

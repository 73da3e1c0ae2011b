import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RolloutClaims, signRolloutToken, verifyRolloutToken } from '../../schemas/rolloutToken.ts';

const claims: RolloutClaims = {
  runId: 'run',
  groupId: 'g-1',
  rolloutId: 'r-1',
  attempt: 2,
  taskId: 'tasks/ä',
  harness: 'alder',
  expiresAt: 1_000,
  startOffset: 17,
  issuedAt: 5,
};

describe('a rollout token', () => {
  it('carries its claims in characters that fit a key and a path', () => {
    const token = signRolloutToken(claims, 'secret');
    expect(token).toMatch(/^[A-Za-z0-9_.-]+$/u);
    expect(verifyRolloutToken(token, ['secret'], 999)).toEqual(claims);
    const { issuedAt: _, ...bare } = claims;
    expect(verifyRolloutToken(signRolloutToken(bare, 's'), ['s'], 0)).toEqual({ ...claims, issuedAt: 0 });
  });

  it('is good under the old secret too while keys rotate', () => {
    const token = signRolloutToken(claims, 'old');
    expect(verifyRolloutToken(token, ['new', 'old'], 0).rolloutId).toBe('r-1');
    expect(() => verifyRolloutToken(token, ['new'], 0)).toThrow(
      expect.objectContaining({ code: 'E_TOKEN_INVALID' }),
    );
  });

  it('expires', () => {
    const token = signRolloutToken(claims, 'secret');
    expect(() => verifyRolloutToken(token, ['secret'], 1_000)).toThrow(
      expect.objectContaining({ code: 'E_TOKEN_EXPIRED' }),
    );
  });

  it('is refused after any change, and so is anything else', () => {
    const token = signRolloutToken(claims, 'secret');
    const refused = (text: string): void => {
      expect(() => verifyRolloutToken(text, ['secret'], 0)).toThrow(
        expect.objectContaining({ code: 'E_TOKEN_INVALID' }),
      );
    };
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom('A', 'b', '.', '-'), (at, char) => {
        fc.pre(token[at] !== char);
        refused(token.slice(0, at) + char + token.slice(at + 1));
      }),
    );
    fc.assert(fc.property(fc.string(), refused));
  });
});

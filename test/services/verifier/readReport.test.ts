import { describe, expect, it } from 'vitest';
import { type GraderOutput, readReport } from '../../../services/verifier/readReport.ts';

const plain = { criteria: null, exitCode: false };
const read = (output: Partial<GraderOutput>, rules: Parameters<typeof readReport>[1] = plain) =>
  readReport({ rewardJson: null, rewardTxt: null, stdout: '', exitCode: 0, ...output }, rules);

describe('readReport', () => {
  it.each([
    [{ stdout: 'log\n0.5\n\n' }, 0.5],
    [{ stdout: '1' }, 1],
    [{ stdout: ' 1e-1 ' }, 0.1],
    [{ stdout: '1', rewardTxt: '0.25\n' }, 0.25],
    [{ stdout: '1', rewardTxt: '1', rewardJson: '{"reward":0}' }, 0],
  ])('reads %j', (output, reward) => {
    expect(read(output)).toEqual({ ok: true, reward, criteria: null });
  });

  it.each([
    [{}, 'is no number'],
    [{ stdout: '1\ndone' }, 'is no number: "done"'],
    [{ stdout: 'NaN' }, 'is no number'],
    [{ stdout: 'Infinity' }, 'is no number'],
    [{ stdout: '0x1' }, 'is no number'],
    [{ stdout: '1.5' }, 'outside 0 to 1'],
    [{ stdout: '-0.1' }, 'outside 0 to 1'],
    [{ stdout: '1', exitCode: 3 }, 'exit code 3'],
    [{ stdout: '1', exitCode: null }, 'signal'],
    [{ stdout: '1', rewardTxt: '' }, 'reward.txt is no number'],
    [{ rewardJson: '{' }, 'no JSON'],
    [{ rewardJson: '[]' }, 'neither a reward nor criteria'],
    [{ rewardJson: '{"reward":"1"}' }, 'no number from 0 to 1'],
    [{ rewardJson: '{"reward":null}' }, 'no number from 0 to 1'],
    [{ rewardJson: '{"reward":1,"criteria":{"a":2}}' }, 'criterion a'],
  ])('refuses %j', (output, reason) => {
    expect(read(output)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  it('weighs criteria', () => {
    const criteria = { wrote: 0.2, fromFile: 0.3, exact: 0.5 };
    const weighted = { criteria, exitCode: false };
    const rewardJson = '{"criteria":{"wrote":1,"fromFile":1,"exact":0,"extra":1}}';
    expect(read({ rewardJson }, weighted)).toEqual({
      ok: true,
      reward: 0.5,
      criteria: { wrote: 1, fromFile: 1, exact: 0, extra: 1 },
    });
    expect(read({ rewardJson: '{"criteria":{"wrote":1}}' }, weighted)).toMatchObject({ ok: false });
    const all = '{"criteria":{"wrote":1,"fromFile":1,"exact":1}}';
    expect(read({ rewardJson: all }, weighted)).toMatchObject({ reward: 1 });
    expect(read({ rewardJson: '{"criteria":{"a":1,"b":0}}' })).toMatchObject({ reward: 0.5 });
  });

  it('lets the exit code decide where the task says so', () => {
    const rules = { criteria: null, exitCode: true };
    expect(read({ stdout: '3 passed', exitCode: 0 }, rules)).toMatchObject({ reward: 1 });
    expect(read({ stdout: '1 failed', exitCode: 1 }, rules)).toMatchObject({ reward: 0 });
    expect(read({ stdout: '0.5', exitCode: 1 }, rules)).toMatchObject({ reward: 0.5 });
    for (const exitCode of [126, 127, 137, null]) expect(read({ exitCode }, rules).ok).toBe(false);
  });
});

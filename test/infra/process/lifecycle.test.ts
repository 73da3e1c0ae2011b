import { describe, expect, it } from 'vitest';
import { createLifecycle } from '../../../infra/process/lifecycle.ts';

describe('lifecycle', () => {
  it('closes in reverse, one after the other, once', async () => {
    const order: string[] = [];
    const life = createLifecycle();
    for (const name of ['a', 'b', 'c']) {
      expect(
        life.own(name, async (own) => {
          order.push(`${own} begins`);
          await new Promise((resolve) => setImmediate(resolve));
          order.push(`${own} ends`);
        }),
      ).toBe(name);
    }
    await Promise.all([life.close(), life.close()]);
    await life.close();
    expect(order).toEqual(['c begins', 'c ends', 'b begins', 'b ends', 'a begins', 'a ends']);
  });

  it('runs every closer and then throws what failed', async () => {
    const closed: string[] = [];
    const life = createLifecycle();
    life.own('a', (own) => void closed.push(own));
    life.own('b', () => {
      throw new Error('b failed');
    });
    life.own('c', (own) => void closed.push(own));
    await expect(life.close()).rejects.toThrow('b failed');
    expect(closed).toEqual(['c', 'a']);
  });

  it('closes what is opened while it closes', async () => {
    const closed: string[] = [];
    const life = createLifecycle();
    life.own('a', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      closed.push('a');
    });
    const closing = life.close();
    life.own('late', (own) => void closed.push(own));
    await closing;
    await life.close();
    expect(closed.sort()).toEqual(['a', 'late']);
  });
});

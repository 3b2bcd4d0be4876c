import { OverloadedError } from '@portico/sql';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue, type QueueSizes } from './fair-queue.ts';

/** Creates a queue whose tasks end only when the test ends them. */
function line({ atOnce = 1, mostWaiting = 200, mostOfOne = 100 }: Partial<QueueSizes> = {}) {
  const queue = new FairQueue({ atOnce, mostWaiting, mostOfOne });
  const served: (string | null)[] = [];
  const ends: (() => void)[] = [];
  const refused: (string | null)[] = [];
  let most = 0;
  return {
    served,
    refused,
    most: () => most,
    enter: (network: string | null) => {
      const work = () => {
        served.push(network);
        return new Promise<void>((resolve) => {
          ends.push(resolve);
          most = Math.max(most, ends.length);
        });
      };
      queue.run(network, work).catch((error: unknown) => {
        refused.push(error instanceof OverloadedError ? network : 'for another reason');
      });
    },
    /** Ends the running tasks, one after the other, until none remain. */
    serve: async (times = Infinity) => {
      await settled();
      for (let count = 0; count < times && ends.length > 0; count += 1) {
        ends.shift()?.();
        await settled();
      }
    },
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a queue in which networks take turns', () => {
  // @shows AS-17.3
  test('lets a flood from one network delay only that network', async () => {
    const { enter, serve, served, refused } = line();
    for (let count = 0; count < 60; count += 1) enter('flood');
    enter('a');
    enter('b');
    enter('a');
    await serve(6);
    expect(served).toEqual(['flood', 'flood', 'a', 'b', 'flood', 'a', 'flood']);
    await serve();
    expect(served).toHaveLength(63);
    expect(refused).toEqual([]);
  });

  test('limits the waiting work of one network', async () => {
    const { enter, serve, served, refused } = line({ mostOfOne: 3 });
    for (let count = 0; count < 10; count += 1) enter('flood');
    await settled();
    expect(refused).toHaveLength(6);
    enter('a');
    enter(null);
    await serve();
    expect(served).toEqual(['flood', 'flood', 'a', null, 'flood', 'flood']);
  });

  test('drops work of the network with the most if it is full and a new network arrives', async () => {
    const { enter, serve, served, refused } = line({ mostWaiting: 4 });
    for (const network of ['x', 'small', 'large', 'large', 'large']) enter(network);
    enter('new');
    await settled();
    expect(refused).toEqual(['large']);
    enter('large');
    enter('new');
    await settled();
    expect(refused).toEqual(['large', 'large', 'new']);
    await serve();
    expect(served).toEqual(['x', 'small', 'large', 'new', 'large']);
  });

  test('drops work of the network with the most, even if another network came later', async () => {
    const { enter, serve, served, refused } = line({ mostWaiting: 4 });
    for (const network of ['flood', 'flood', 'flood', 'flood', 'late', 'new']) enter(network);
    await serve();
    expect(refused).toEqual(['flood']);
    expect(served).toEqual(['flood', 'flood', 'late', 'new', 'flood']);
  });

  test('accepts as much work again after it was full, and after work was dropped', async () => {
    const { enter, serve, served, refused } = line({ mostWaiting: 3 });
    for (let round = 0; round < 4; round += 1) {
      for (const network of ['flood', 'flood', 'flood', 'flood']) enter(network);
      await serve();
    }
    expect([refused, served.length]).toEqual([[], 16]);
    for (let round = 0; round < 4; round += 1) {
      for (const network of ['flood', 'flood', 'flood', 'flood', 'new']) enter(network);
      await serve();
    }
    expect([refused, served.length]).toEqual([['flood', 'flood', 'flood', 'flood'], 32]);
  });

  test('starts the next work after work that fails', async () => {
    const queue = new FairQueue({ atOnce: 1, mostWaiting: 2, mostOfOne: 2 });
    const failing = queue.run('a', () => Promise.reject(new Error('it failed')));
    const next = queue.run('a', async () => 'served');
    await expect(failing).rejects.toThrow('it failed');
    expect(await next).toBe('served');
  });

  test('completes or refuses all work within its limits, in any order', async () => {
    const network = fc.constantFrom('a', 'b', 'c', 'd', null);
    const step = fc.oneof({ arbitrary: network, weight: 3 }, fc.constant('serve' as const));
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 80 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, atOnce) => {
          const tried = line({ atOnce, mostWaiting: 6, mostOfOne: 4 });
          let entered = 0;
          for (const each of steps) {
            if (each === 'serve') await tried.serve(1);
            else {
              entered += 1;
              tried.enter(each);
              await settled();
            }
          }
          await tried.serve();
          expect(tried.served.length + tried.refused.length).toBe(entered);
          expect(tried.most()).toBeLessThanOrEqual(atOnce);
        },
      ),
    );
  });
});

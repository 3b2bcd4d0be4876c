import { expect, test } from 'vitest';
import { FailedAttempts, systemRandom, type AttemptKey } from './failed-attempts.ts';

const MINUTE = 60_000;
const CLIENT: AttemptKey = { key: 'client', free: 5 };
const NETWORK: AttemptKey = { key: 'network', free: 50 };

/** A seeded Math.random() (Lehmer, "minimal standard"). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/**
 * Creates a limiter with a fixed clock. Its random numbers are the given numbers. After these, they
 * are `never`.
 */
function limiter() {
  const time = { now: 1_000_000_000 };
  const draws: number[] = [];
  let drawn = 0;
  const random = () => {
    drawn += 1;
    return draws.shift() ?? 0.999;
  };
  const attempts = new FailedAttempts(() => time.now, random);
  const make = (right: boolean, keys: readonly AttemptKey[]) =>
    attempts.attempt(keys, async () => (right ? 'value' : null));
  const fail = async (times: number, ...keys: readonly AttemptKey[]) => {
    for (let count = 0; count < times; count += 1)
      expect(await make(false, keys)).toEqual({ outcome: 'wrong' });
  };
  return { time, draws, drawn: () => drawn, attempts, make, fail };
}

test('an attempt with several slowed counts is decided by a single random draw', async () => {
  const { draws, drawn, make, fail } = limiter();
  await fail(5, CLIENT);
  await fail(50, NETWORK);
  draws.push(0.05, 0.049, 0);
  expect(await make(false, [CLIENT, NETWORK])).toMatchObject({ outcome: 'slowed' });
  expect(await make(false, [CLIENT, NETWORK])).toEqual({ outcome: 'wrong' });
  expect(await make(true, [CLIENT, NETWORK])).toEqual({ outcome: 'right', value: 'value' });
  expect(drawn()).toBe(3);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'no client is locked out, because each attempt has a chance of 1 in 20 (seed %i)',
  async (seed) => {
    const random = createRandom(seed);
    const attempts = new FailedAttempts(() => 0, random);
    const guesses = [[CLIENT], [NETWORK], [CLIENT, NETWORK]];
    const guess = () => attempts.attempt(guesses[Math.floor(random() * 3)] ?? [], async () => null);
    for (let count = 0; count < 200; count += 1) await guess();
    let [tries, right] = [0, 0];
    for (; tries < 2000; tries += 1) {
      for (let count = 0; count < 3; count += 1) await guess();
      const attempt = await attempts.attempt([CLIENT, NETWORK], async () => true);
      if (attempt.outcome === 'right') right += 1;
    }
    expect(right / tries).toBeGreaterThan(0.035);
    expect(right / tries).toBeLessThan(0.065);
  },
);

test('the random numbers of the system are between 0 and 1', () => {
  const numbers = Array.from({ length: 1000 }, systemRandom);
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers)).toBeLessThan(1);
  expect(new Set(numbers).size).toBeGreaterThan(990);
});

test('the first slowed attempt is marked, once for all its counts', async () => {
  const { time, make, fail } = limiter();
  await fail(5, CLIENT, NETWORK);
  expect(await make(false, [CLIENT, NETWORK])).toEqual({
    outcome: 'slowed',
    wait: 1000,
    first: true,
  });
  await fail(45, NETWORK);
  expect(await make(false, [CLIENT, NETWORK])).toMatchObject({ first: false });
  expect(await make(false, [NETWORK])).toMatchObject({ first: false });
  expect(await make(false, [{ key: 'other', free: 5 }])).toEqual({ outcome: 'wrong' });
  time.now += 15 * MINUTE;
  await fail(5, CLIENT);
  expect(await make(false, [CLIENT])).toMatchObject({ first: true });
});

test('failures below the free rate per 15 minutes cause no wait', async () => {
  const { time, make } = limiter();
  for (let count = 0; count < 500; count += 1) {
    time.now += (15 * MINUTE) / 50;
    expect(await make(false, [NETWORK])).toEqual({ outcome: 'wrong' });
  }
});

test('an attempt that throws is not a failure, and a right one does not shorten existing waits', async () => {
  const { attempts, make, fail } = limiter();
  const broken = new Error('the hasher is gone');
  for (let count = 0; count < 20; count += 1) {
    await expect(attempts.attempt([CLIENT], () => Promise.reject(broken))).rejects.toBe(broken);
    expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'right' });
  }
  await fail(5, CLIENT);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed' });
});

test('simultaneous attempts are counted before their results are known', async () => {
  const { attempts } = limiter();
  const judged = Promise.withResolvers<null>();
  const made = Array.from({ length: 20 }, () => attempts.attempt([CLIENT], () => judged.promise));
  judged.resolve(null);
  const outcomes = (await Promise.all(made)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(5);
});

test('no attempt has to wait after the clock is set back', async () => {
  const { time, make, fail } = limiter();
  await fail(5, CLIENT);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed' });
  time.now -= 60 * MINUTE;
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'right' });
});

test('10,000 counts are kept, and the one that failed longest ago is dropped first', async () => {
  const { make, fail } = limiter();
  await fail(5, CLIENT);
  for (let count = 0; count < 9999; count += 1)
    await make(false, [{ key: String(count), free: 5 }]);
  expect(await make(false, [CLIENT])).toMatchObject({ outcome: 'slowed' });
  await make(false, [{ key: 'one more', free: 5 }]);
  expect(await make(false, [CLIENT])).toEqual({ outcome: 'wrong' });
});

test('the wait doubles with each failure up to 30 seconds, and the longest count applies', async () => {
  const { time, make, fail } = limiter();
  const waits: number[] = [];
  await fail(4, CLIENT);
  for (let count = 0; count < 7; count += 1) {
    await fail(1, CLIENT);
    const slowed = await make(true, [CLIENT]);
    expect(slowed).toMatchObject({ outcome: 'slowed', first: count === 0 });
    const wait = slowed.outcome === 'slowed' ? slowed.wait : 0;
    waits.push(wait);
    time.now += wait - 1;
    expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed', wait: 1 });
    time.now += 1;
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  await fail(1, CLIENT);
  const other = { key: 'other', free: 1 };
  await fail(1, other);
  for (const keys of [
    [CLIENT, other],
    [other, CLIENT],
  ])
    expect(await make(true, keys)).toMatchObject({ outcome: 'slowed', wait: 30_000 });
  expect(await make(true, [other])).toMatchObject({ outcome: 'slowed', wait: 1000 });
});

test('failures expire one by one, counted from the first', async () => {
  const { time, make, fail } = limiter();
  await fail(1, CLIENT);
  time.now += 2 * MINUTE;
  await fail(3, CLIENT);
  time.now += MINUTE;
  await fail(2, CLIENT);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed', wait: 1000 });
  time.now += 3 * MINUTE - 1;
  await fail(1, CLIENT);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed', wait: 2000 });
  time.now += 2001;
  await fail(1, CLIENT);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed', wait: 2000 });
});

test('a new failure after all others have expired counts from its own time', async () => {
  const { time, make, fail } = limiter();
  await fail(1, CLIENT);
  time.now += 4 * MINUTE;
  await fail(5, CLIENT);
  time.now += 2.5 * MINUTE;
  await fail(1, CLIENT);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed', wait: 2000 });
});

test('an attempt that takes longer than failures are remembered still gets its result', async () => {
  const { time, attempts, make } = limiter();
  const slow = async () => {
    time.now += 15 * MINUTE;
    return 'value';
  };
  expect(await attempts.attempt([CLIENT], slow)).toEqual({ outcome: 'right', value: 'value' });
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'right' });
});

test('a right attempt removes only its own failure', async () => {
  const { make, fail } = limiter();
  await fail(4, CLIENT);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'right' });
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'right' });
  await fail(1, CLIENT);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed', wait: 1000 });
});

test('a right attempt after a wait keeps the wait of the failure before it', async () => {
  const { draws, time, make, fail } = limiter();
  await fail(5, CLIENT);
  draws.push(0);
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'right' });
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'slowed', wait: 1000 });
  time.now += 1000;
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'right' });
  expect(await make(true, [CLIENT])).toMatchObject({ outcome: 'right' });
});

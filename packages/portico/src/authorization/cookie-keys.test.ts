import { describe, expect, test } from 'vitest';
import { startSealing } from './sealing.fixture.ts';
import type { CookieKeyRecords } from '../store/sql/cookie-keys.ts';

const PERIOD = 30 * 86_400_000;
/** The time when the 694th period of thirty days begins. */
const START = 694 * PERIOD;
const LIFETIME = 600_000;
const CLOCKS_DIFFER = 300_000;

/** Returns processes that share one store of keys. Each process has its own clock. */
function installation(keys = new Map<number, string>()) {
  const asked: string[] = [];
  const store = {
    async cookieKey(period: number, candidate: string, oldest: number) {
      asked.push(`make ${period}, keep from ${oldest}`);
      if (!keys.has(period)) keys.set(period, candidate);
      for (const each of keys.keys()) if (each < oldest) keys.delete(each);
      return keys.get(period) ?? candidate;
    },
    async findCookieKey(period: number) {
      asked.push(`find ${period}`);
      return keys.get(period) ?? null;
    },
  } satisfies Partial<CookieKeyRecords> as unknown as CookieKeyRecords;
  return {
    asked,
    keys,
    start: (now: number) => {
      const time = { now };
      const clock = () => time.now;
      return { time, ...startSealing(store, clock, LIFETIME) };
    },
  };
}

describe('a cookie key', () => {
  test('has 256 bits, seals for 30 days, and is removed when no valid cookie needs it', async () => {
    const { start, asked, keys } = installation();
    const { sealer, time } = start(START + LIFETIME);
    const first = await sealer.seal('c', 'one');
    time.now = START + PERIOD - 1;
    const last = await sealer.seal('c', 'two');
    expect([first.split('.')[0], last.split('.')[0]]).toEqual(['694', '694']);
    expect(asked).toEqual(['make 694, keep from 694']);
    expect(keys.get(694)).toMatch(/^[\w-]{43}$/);
    time.now += 1;
    expect(await sealer.seal('c', 'three')).toMatch(/^695\./);
    expect(keys.get(695)).not.toBe(keys.get(694));
    expect([await sealer.open('c', last), await sealer.open('c', first)]).toEqual(['two', 'one']);
    expect(asked.slice(1)).toEqual(['make 695, keep from 694']);
    expect([...keys.keys()]).toEqual([694, 695]);
  });

  test('is read once by each process, to seal and to open', async () => {
    const { start, asked } = installation();
    const [one, other] = [start(START), start(START)];
    const sealed = await one.sealer.seal('c', 'text');
    for (let time = 0; time < 2; time += 1) {
      expect(await one.sealer.open('c', await one.sealer.seal('c', 'text'))).toBe('text');
      expect(await other.sealer.open('c', sealed)).toBe('text');
      expect(await one.sealer.open('c', await other.sealer.seal('c', 'text'))).toBe('text');
    }
    expect(asked).toEqual(['make 694, keep from 693', 'find 694']);
  });

  test('from an earlier process is reused', async () => {
    const { start, keys } = installation(new Map([[694, 'k'.repeat(43)]]));
    const { sealer } = start(START);
    expect(await start(START).sealer.open('c', await sealer.seal('c', 'text'))).toBe('text');
    expect(keys.get(694)).toBe('k'.repeat(43));
  });

  test('opens cookies while they are valid, and is not read afterwards', async () => {
    const { start, asked } = installation();
    const sealed = await start(START + PERIOD - 1).sealer.seal('c', 'text');
    asked.length = 0;
    const { sealer, time } = start(START + PERIOD + LIFETIME - 1);
    expect(await sealer.open('c', sealed)).toBe('text');
    time.now += 1;
    expect(await sealer.open('c', sealed)).toBeNull();
    expect(await start(time.now).sealer.open('c', sealed)).toBeNull();
    expect(asked).toEqual(['find 694']);
  });

  test('of the next period is read only if a clock ahead could already use it', async () => {
    const { start, asked } = installation();
    const sealed = await start(START + PERIOD).sealer.seal('c', 'text');
    asked.length = 0;
    const { sealer, time } = start(START + PERIOD - CLOCKS_DIFFER - 1);
    expect(await sealer.open('c', sealed)).toBeNull();
    expect(asked).toEqual([]);
    time.now += 1;
    expect(await sealer.open('c', sealed)).toBe('text');
    expect(asked).toEqual(['find 695']);
  });

  test('that was missing from the store is read again', async () => {
    const { start, keys } = installation();
    const sealed = await start(START).sealer.seal('c', 'text');
    const key = keys.get(694) ?? '';
    keys.clear();
    const { sealer } = start(START);
    expect(await sealer.open('c', sealed)).toBeNull();
    keys.set(694, key);
    expect(await sealer.open('c', sealed)).toBe('text');
  });

  test('of the current period is distinguished from the previous one', async () => {
    const { start } = installation();
    const { sealer, time } = start(START + PERIOD - 1);
    const sealed = await sealer.seal('c', 'text');
    expect(sealer.isCurrent(sealed)).toBe(true);
    for (const other of ['', '6', '69.x', `6${sealed}`, ` ${sealed}`])
      expect(sealer.isCurrent(other)).toBe(false);
    time.now += 1;
    expect(sealer.isCurrent(sealed)).toBe(false);
  });
});

describe('a sealed cookie value', () => {
  test('is opened only under its name, and any other text causes no read from the store', async () => {
    const { start, asked } = installation();
    const sealed = await start(START).sealer.seal('a', 'text');
    const { sealer } = start(START);
    asked.length = 0;
    for (const other of [
      '',
      '694',
      '694.',
      `694.${'A'.repeat(37)}`,
      `0${sealed}`,
      ` ${sealed}`,
      `${sealed}=`,
      'x',
    ])
      expect(await sealer.open('a', other)).toBeNull();
    expect(asked).toEqual([]);
    expect(await sealer.open('b', sealed)).toBeNull();
    expect(await sealer.open('a', sealed)).toBe('text');
    expect(await sealer.open('a', await sealer.seal('a', ''))).toBe('');
  });

  test('from an earlier release is opened while it is valid', async () => {
    const { start } = installation(new Map([[694, 'k'.repeat(43)]]));
    const { sealer, sealing } = start(1_800_000_000_000);
    expect(
      await sealer.open('a_cookie', '694.N-KqOsG4Cu-yncgiFi3fmVtH_vS8ZV3r2qp3nl_idpmhAa4'),
    ).toBe('content');
    const text = '694.vKCNziJaGY4Yft7kVI2GSKslb9UuGDVoxR0LKjAj-2ytkdxIYCS3-e9HeyD76o0BWqT_3qY';
    expect(await sealing.open('a purpose', text)).toBe('content');
  });

  test('is refused if it is too old or too far in the future, to the millisecond', async () => {
    const { start } = installation();
    const { sealing, time } = start(START + PERIOD / 2);
    const sealed = await sealing.seal('p', 'text');
    const opened = async (off: number) => {
      time.now = START + PERIOD / 2 + off;
      return (await sealing.open('p', sealed)) !== null;
    };
    const offs = [-CLOCKS_DIFFER, 1 - CLOCKS_DIFFER, 0, LIFETIME - 1, LIFETIME];
    const found = [];
    for (const off of offs) found.push(await opened(off));
    expect(found).toEqual([false, true, true, true, false]);
  });
});

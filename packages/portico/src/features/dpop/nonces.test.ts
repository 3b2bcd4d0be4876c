import { describe, expect, test } from 'vitest';
import { CookieSealer } from '../../authorization/cookie-keys.ts';
import { DpopNonces } from './nonces.ts';
import type { CookieKeyRecords } from '../../store/sql/cookie-keys.ts';

const START = 1_800_000_000_000;

/** Returns processes that share their encryption keys. Each process has its own clock. */
function installation() {
  const keys = new Map<number, string>();
  const store = {
    async cookieKey(period: number, candidate: string) {
      if (!keys.has(period)) keys.set(period, candidate);
      return keys.get(period) ?? candidate;
    },
    findCookieKey: async (period: number) => keys.get(period) ?? null,
  } satisfies Partial<CookieKeyRecords> as unknown as CookieKeyRecords;
  return () => {
    let now = START;
    const clock = () => now;
    const sealer = new CookieSealer(store, clock, 600_000);
    return {
      sealer,
      nonces: new DpopNonces(sealer, clock),
      at: (milliseconds: number) => void (now = START + milliseconds),
    };
  };
}

describe('A DPoP nonce', () => {
  test('is issued for half a minute, and then replaced', async () => {
    const { nonces, at } = installation()();
    const first = await nonces.current();
    at(29_999);
    expect(await nonces.current()).toBe(first);
    at(30_000);
    const second = await nonces.current();
    expect(second).not.toBe(first);
    at(59_999);
    expect(await nonces.current()).toBe(second);
    at(60_000);
    expect(await nonces.current()).not.toBe(second);
  });

  test('from before the clock was set back is not issued again', async () => {
    const { nonces, at } = installation()();
    const first = await nonces.current();
    at(-1);
    expect(await nonces.current()).not.toBe(first);
  });

  test.each(['where it was made', 'elsewhere'])('is valid for three minutes, %s', async (where) => {
    const start = installation();
    const [one, other] = [start(), start()];
    const nonce = await one.nonces.current();
    const asked = where === 'elsewhere' ? other : one;
    asked.at(179_999);
    expect(await asked.nonces.isGood(nonce)).toBe(true);
    asked.at(180_000);
    expect(await asked.nonces.isGood(nonce)).toBe(false);
  });

  test('is valid in a process whose clock is less than a minute behind', async () => {
    const start = installation();
    const [one, other] = [start(), start()];
    const nonce = await one.nonces.current();
    other.at(-59_999);
    expect(await other.nonces.isGood(nonce)).toBe(true);
    other.at(-60_000);
    expect(await other.nonces.isGood(nonce)).toBe(false);
  });

  test('is invalid if it is invented, or was sealed for a different purpose or installation', async () => {
    const start = installation();
    const { nonces, sealer } = start();
    const now = String(START);
    for (const wrong of [
      '',
      'x',
      await sealer.seal('dpop nonce', now),
      await sealer.seal('', now),
      await installation()().nonces.current(),
    ]) {
      expect(await nonces.isGood(wrong)).toBe(false);
      await nonces.current();
      expect(await nonces.isGood(wrong)).toBe(false);
    }
  });
});

import { expect, test } from 'vitest';
import { startSealing } from './sealing.fixture.ts';
import type { CookieKeyRecords } from '../store/sql/cookie-keys.ts';

const START = 1_800_000_000_000;
const LIFETIME = 600_000;

/** Returns processes that share one store of keys and one clock. */
function installation() {
  let now = START;
  const keys = new Map<number, string>();
  const store = {
    async cookieKey(period: number, candidate: string) {
      if (!keys.has(period)) keys.set(period, candidate);
      return keys.get(period) ?? candidate;
    },
    findCookieKey: async (period: number) => keys.get(period) ?? null,
  } satisfies Partial<CookieKeyRecords> as unknown as CookieKeyRecords;
  const clock = () => now;
  return {
    pass: (milliseconds: number) => void (now += milliseconds),
    keys,
    start: () => startSealing(store, clock, LIFETIME),
  };
}

// @shows MCP-15.9
test('sealed text is opened by any process, for the same purpose, until it is too old', async () => {
  const { start, pass } = installation();
  const [one, other] = [start().sealing, start().sealing];
  const sealed = await one.seal('a purpose', 'what was said');
  expect(sealed).not.toContain('what was said');
  expect(await other.open('a purpose', sealed)).toBe('what was said');
  expect(await other.open('another purpose', sealed)).toBeNull();
  pass(LIFETIME - 1);
  expect(await other.open('a purpose', sealed)).toBe('what was said');
  pass(1);
  expect(await other.open('a purpose', sealed)).toBeNull();
});

test('sealed text is different each time, and a forged one cannot be opened', async () => {
  const { start } = installation();
  const { sealing } = start();
  const [one, two] = [await sealing.seal('p', 'text'), await sealing.seal('p', 'text')];
  expect(one).not.toBe(two);
  expect(await installation().start().sealing.open('p', one)).toBeNull();
  for (let place = one.indexOf('.') + 1; place < one.length; place += 1) {
    const changed = `${one.slice(0, place)}${one[place] === 'A' ? 'B' : 'A'}${one.slice(place + 1)}`;
    expect(await sealing.open('p', changed)).toBeNull();
  }
});

test('sealed text can be opened only with its exact spelling', async () => {
  const { sealing } = installation().start();
  const sealed = await sealing.seal('p', 'text');
  expect(await sealing.open('p', sealed)).toBe('text');
  for (const other of [`0${sealed}`, `${sealed}A`, `${sealed}-`])
    expect(await sealing.open('p', other)).toBeNull();
});

test('sealed text cannot be used as a cookie, nor a cookie as sealed text', async () => {
  const { sealer, sealing } = installation().start();
  expect(
    await sealer.open('portico_request_a', await sealing.seal('portico_request_a', 'text')),
  ).toBeNull();
  expect(
    await sealing.open('portico_request_a', await sealer.seal('portico_request_a', '[0,"text"]')),
  ).toBeNull();
});

test('sealed text from the future cannot be opened, apart from the allowed clock difference', async () => {
  const { start, pass } = installation();
  const { sealing } = start();
  const sealed = await sealing.seal('p', 'text');
  pass(-200_000);
  expect(await sealing.open('p', sealed)).toBe('text');
  pass(-200_000);
  expect(await sealing.open('p', sealed)).toBeNull();
});

test('sealed text cannot be opened without its key, and an invented key number creates no key', async () => {
  const { start, keys } = installation();
  const sealed = await start().sealing.seal('p', 'text');
  const [, text = ''] = sealed.split('.');
  for (const period of ['0', '1', '999999999']) {
    expect(await start().sealing.open('p', `${period}.${text}`)).toBeNull();
  }
  expect(keys.size).toBe(1);
  keys.clear();
  expect(await start().sealing.open('p', sealed)).toBeNull();
});

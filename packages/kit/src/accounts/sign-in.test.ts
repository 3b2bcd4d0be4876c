import type { Events } from 'portico';
import { currentCaller, Event, FailedAttempts } from 'portico/extension';
import type { Log } from '@portico/sql';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Accounts } from '../contracts.ts';
import type { KnownBrowser } from './known-browsers.ts';
import { RequestContext, runWithContext, type PeopleParts } from './request-context.ts';
import { guardSignIn, SignInSlowedError } from './sign-in.ts';

const ADA = { provider: 'own', id: 'ada' };
const USER = { reference: ADA, isActive: () => true, getProfile: () => ({}) };

/** Creates a sign-in for one account, whose identifier is `ada`, and records what it says. */
function guarded() {
  const time = { now: 0 };
  const said: unknown[] = [];
  const callers: (string | null)[] = [];
  const passwords: string[] = [];
  const check: Accounts['authenticate'] = async (identifier, password, names) => {
    callers.push(currentCaller());
    passwords.push(password);
    if (!/ada/i.test(identifier)) return null;
    names?.(ADA);
    return password === 'correct' ? USER : null;
  };
  const own = { authenticate: check } as unknown as Accounts;
  const line = (level: string) => (_: string, values: unknown) => said.push([level, values]);
  const log = { info: line('info'), warning: line('warning') } as unknown as Log;
  const events = {
    emit: async (event: string, values: unknown) => void said.push([event, values]),
  } as unknown as Events;
  const attempts = new FailedAttempts(
    () => time.now,
    () => 0.999,
  );
  const accounts = guardSignIn(own, attempts, events, log);
  const authenticate: Accounts['authenticate'] = (...given) => accounts.authenticate(...given);
  return { time, said, callers, passwords, authenticate };
}

/** Runs work in a request from this address, with this browser. */
const during = <T>(address: string, browser: Partial<KnownBrowser>, work: () => Promise<T>) => {
  const parts = { knownBrowsers: { of: () => browser } } as unknown as PeopleParts;
  const request = new Request('https://app.example');
  return runWithContext(new RequestContext(parts, request, () => address), work);
};

describe('a failed sign-in', () => {
  test('normalizes only the beginning of a very long identifier, because that takes seconds', async () => {
    const { authenticate } = guarded();
    const spy = vi.spyOn(String.prototype, 'normalize');
    onTestFinished(() => spy.mockRestore());
    const long = `a${'\u{301}'.repeat(16_000)}${'\u{316}'.repeat(16_000)}`;
    expect(await authenticate(long, 'wrong')).toBeNull();
    expect(Math.max(...spy.mock.contexts.map((text) => String(text).length))).toBe(1000);
  });

  test('checks a random password instead of an empty one', async () => {
    const { passwords, authenticate } = guarded();
    for (const password of ['', '', 'wrong'])
      expect(await authenticate('ada', password)).toBeNull();
    expect(passwords).toEqual([
      expect.stringMatching(/^[\da-f-]{36}$/),
      expect.stringMatching(/^[\da-f-]{36}$/),
      'wrong',
    ]);
    expect(passwords[0]).not.toBe(passwords[1]);
  });

  test("tells the application's own sign-in page which account was meant", async () => {
    const { authenticate } = guarded();
    const named: unknown[] = [];
    for (const identifier of ['ada', 'eve'])
      await authenticate(identifier, 'wrong', (person) => named.push(person));
    expect(named).toEqual([ADA]);
  });

  test.each([
    ['ada', ADA],
    ['eve', null],
  ])(
    'with the identifier %s records an event and a log line with the account %j',
    async (identifier, person) => {
      const { said, authenticate } = guarded();
      expect(await authenticate(identifier, 'wrong')).toBeNull();
      const failed = { person, address: null, requestId: null };
      expect(said).toEqual([
        ['info', failed],
        [Event.SIGN_IN_FAILED, failed],
      ]);
    },
  );

  test('is slowed down after five failures in any spelling, with one event and one log line', async () => {
    const { time, said, authenticate } = guarded();
    for (const spelling of ['ada', 'ADA', ' ada ', 'ａda', `${' '.repeat(1000)}ａda`])
      await authenticate(spelling, 'wrong');
    said.length = 0;
    for (let times = 0; times < 2; times += 1)
      await expect(authenticate(' ADA ', 'correct')).rejects.toMatchObject({
        status: 429,
        retryAfter: 1,
        headers: { 'Retry-After': '1' },
      });
    const failed = { person: null, address: null, requestId: null };
    expect(said).toEqual([
      ['warning', failed],
      [Event.SIGN_IN_SLOWED, failed],
    ]);
    await expect(authenticate('ada', 'correct')).rejects.toThrow(SignInSlowedError);
    time.now += 1000;
    expect(await authenticate('ada', 'correct')).toBe(USER);
  });
});

describe('a sign-in in a request', () => {
  const unknown = { knows: async () => false, remember: async () => {} };
  const known = { knows: async () => true, remember: async () => {} };

  test('counts its failures for its network', async () => {
    const { said, authenticate } = guarded();
    const wrong = () => authenticate('ada', 'wrong');
    for (let times = 0; times < 5; times += 1) await during('192.0.2.1', unknown, wrong);
    expect(said[0]).toEqual(['info', { person: ADA, address: '192.0.2.1', requestId: null }]);
    await expect(during('192.0.2.1', unknown, wrong)).rejects.toThrow(SignInSlowedError);
    expect(await during('192.0.2.2', unknown, wrong)).toBeNull();
  });

  test('counts the failures of all accounts of its network together', async () => {
    const { authenticate } = guarded();
    const wrong = (address: string, identifier: string) =>
      during(address, unknown, () => authenticate(identifier, 'wrong'));
    for (let at = 0; at < 50; at += 1) expect(await wrong('192.0.2.1', `eve${at}`)).toBeNull();
    await expect(wrong('192.0.2.1', 'grace')).rejects.toThrow(SignInSlowedError);
    expect(await wrong('192.0.2.2', 'grace')).toBeNull();
  });

  test('of a known browser counts its failures only for the account', async () => {
    const { authenticate } = guarded();
    const wrong = (identifier: string) => () => authenticate(identifier, 'wrong');
    for (let times = 0; times < 5; times += 1) await during('192.0.2.1', unknown, wrong('ada'));
    for (let times = 0; times < 5; times += 1)
      expect(await during('192.0.2.1', known, wrong('ada'))).toBeNull();
    for (const address of ['192.0.2.1', '192.0.2.9'])
      await expect(during(address, known, wrong('ada'))).rejects.toThrow(SignInSlowedError);
    expect(await during('192.0.2.1', known, wrong('grace ada'))).toBeNull();
    expect(await during('192.0.2.2', unknown, wrong('ada'))).toBeNull();
  });

  // With one queue for each account, a network with many accounts would delay all other networks.
  test('of a known browser waits in one queue for all accounts of the network', async () => {
    const { callers, authenticate } = guarded();
    for (const address of ['192.0.2.1', '192.0.2.2'])
      for (const identifier of ['ada', 'grace ada'])
        await during(address, known, () => authenticate(identifier, 'wrong'));
    await during('192.0.2.1', unknown, () => authenticate('ada', 'wrong'));
    const [first, second, third, fourth, other] = callers;
    expect([second, fourth]).toEqual([first, third]);
    expect(new Set([first, third, other]).size).toBe(3);
  });

  test('makes the browser known for no account whose name only looks similar', async () => {
    const { authenticate } = guarded();
    const accounts = new Set<string>();
    const browser = { ...unknown, remember: async (account: string) => void accounts.add(account) };
    const spellings = ['ada strasse', 'ada straße', 'ada ｓtrasse', ' ADA Strasse '];
    for (const identifier of spellings)
      await during('192.0.2.1', browser, () => authenticate(identifier, 'correct'));
    expect(accounts.size).toBe(3);
  });

  test('makes the browser known only if the password is right', async () => {
    const { authenticate } = guarded();
    const accounts: string[] = [];
    const browser = {
      ...unknown,
      remember: async (account: string) => void accounts.push(account),
    };
    await during('192.0.2.1', browser, () => authenticate('ada', 'wrong'));
    expect(accounts).toEqual([]);
    await during('192.0.2.1', browser, () => authenticate(' Ada, ada', 'correct'));
    expect(accounts).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  });
});

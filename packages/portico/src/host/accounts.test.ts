import { describe, expect, test } from 'vitest';
import type { PersonReference, UserInterface } from '../person.ts';
import { Accounts, isYes } from './accounts.ts';
import type { CompleteHost } from './host.ts';

const ADA = { provider: 'users', id: '1' };
const SECRET = 's'.repeat(22);

/** Creates a host with one signed-in person. `active` is what `isActive` returns. */
function createAccounts({
  signedIn = ADA,
  account = ADA,
  active = true,
  ...others
}: {
  readonly signedIn?: PersonReference | null;
  readonly account?: PersonReference | null;
  readonly active?: unknown;
  readonly secret?: unknown;
} = {}) {
  const asked: unknown[] = [];
  const user = account === null ? null : { reference: account, isActive: () => active };
  const host = {
    signedIn: async () => signedIn,
    loadAccount: async (person: PersonReference) => {
      asked.push(person);
      return user;
    },
    browserSecret: async () => ('secret' in others ? others.secret : SECRET),
  } as unknown as CompleteHost;
  return { accounts: new Accounts(host, () => 7, ['DPoP']), user: user as UserInterface, asked };
}

const request = (headers: Readonly<Record<string, string>> = {}) =>
  new Request('https://app.example/', { headers });

describe('the visitor', () => {
  test('is the person who is signed in', async () => {
    const { accounts, user, asked } = createAccounts();
    const sent = request();
    expect(await accounts.visitor(sent)).toEqual({
      user,
      browserSecret: SECRET,
      readAt: 7,
      request: sent,
    });
    expect(asked).toEqual([ADA]);
  });

  test('does not exist without a session or account, or if the account is suspended', async () => {
    for (const without of [{ signedIn: null }, { account: null }, { active: false }])
      expect(await createAccounts(without).accounts.visitor(request())).toBeNull();
  });

  test.each(['Bearer a', 'DPoP a'])(
    'does not exist if the request has a token: %s',
    async (token) => {
      const { accounts, asked } = createAccounts();
      expect(await accounts.visitor(request({ Authorization: token }))).toBeNull();
      expect(asked).toEqual([]);
    },
  );

  test('has a reference that the store saves unchanged', async () => {
    const wrong = { provider: 'users', id: '' };
    await expect(createAccounts({ signedIn: wrong }).accounts.visitor(request())).rejects.toThrow(
      'Host.signedIn returned a person that cannot be stored: The id of a person must not be empty',
    );
    await expect(createAccounts({ account: wrong }).accounts.visitor(request())).rejects.toThrow(
      'Host.loadAccount returned a person that cannot be stored: The id of a person must not be ' +
        'empty',
    );
  });

  test.each([
    ['s'.repeat(21), '21 characters'],
    ['', '0 characters'],
    [null, 'object'],
    [undefined, 'undefined'],
    [Array.from(SECRET), 'object'],
  ])('has no browser secret like %j', async (secret, found) => {
    await expect(createAccounts({ secret }).accounts.visitor(request())).rejects.toThrow(
      'Host.browserSecret must return a random secret of this browser session with at least 22 ' +
        `characters (128 bits in base64url). It returned ${found}`,
    );
  });
});

test('an account is active only if the host says so', async () => {
  expect(await createAccounts().accounts.active(ADA)).not.toBeNull();
  expect(await createAccounts({ account: null }).accounts.active(ADA)).toBeNull();
  expect(await createAccounts({ active: 'yes' }).accounts.active(ADA)).toBeNull();
});

test('only true and 1 mean yes, and a rejected promise ends no process', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  expect([true, 1, 1n].map(isYes)).toEqual([true, true, true]);
  const no = [false, 0, 0n, 2, '1', 'true', null, undefined, {}, [true], Promise.resolve(true)];
  expect(no.filter(isYes)).toEqual([]);
  expect(isYes(Promise.reject(new Error('The account cannot be read')))).toBe(false);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

import type { AccountProvider } from '../contracts.ts';
import { describe, expect, test } from 'vitest';
import { createAccounts } from './accounts.ts';
import { RequestAuth } from './auth.ts';

const PERSON = { provider: 'own', id: '7' };

/** Creates accounts from a provider that is written in JavaScript. No compiler checks its types. */
const answering = ({ held = true, active = true }: { held?: unknown; active?: unknown }) =>
  createAccounts([
    {
      name: 'own',
      find: async () => ({
        reference: PERSON,
        isActive: () => active as boolean,
        getProfile: () => ({}),
      }),
      authenticate: async () => null,
      holdsPermission: async () => held as boolean,
    },
  ]);

const signedIn = (active: unknown) => {
  let person: typeof PERSON | null = PERSON;
  const session = {
    person: async () => person,
    signOut: async () => void (person = null),
  } as unknown as ConstructorParameters<typeof RequestAuth>[0];
  const csrf = {} as ConstructorParameters<typeof RequestAuth>[2];
  return new RequestAuth(session, answering({ active }), csrf);
};

describe('a host result that must be true or false', () => {
  test.each([
    [true, true],
    [1, true],
    [false],
    [0],
    [2],
    ['1'],
    ['false'],
    [[]],
    [{ rows: [] }],
    [null],
  ])('grants a permission only if it is true or 1: %j', async (held, expected = false) => {
    expect(await answering({ held }).holdsPermission(PERSON, 'edit')).toBe(expected);
  });

  test.each([
    [true, true],
    [1, true],
    [1n, true],
    [false, false],
    [0, false],
    [Promise.resolve(false), false],
    ['false', false],
    [null, false],
  ])('keeps a person signed in only if it is true or 1: %s', async (active, expected) => {
    const auth = signedIn(active);
    expect((await auth.user()) !== null).toBe(expected);
    expect((await auth.person()) !== null).toBe(expected);
  });
});

test('a person is signed out if the account was removed', async () => {
  let person: typeof PERSON | null = PERSON;
  const session = {
    person: async () => person,
    signOut: async () => void (person = null),
  } as unknown as ConstructorParameters<typeof RequestAuth>[0];
  const none = createAccounts([
    {
      name: 'own',
      find: async () => null,
      authenticate: async () => null,
      holdsPermission: async () => true,
    },
  ]);
  const auth = new RequestAuth(session, none, {} as ConstructorParameters<typeof RequestAuth>[2]);
  expect(await auth.user()).toBeNull();
  expect(person).toBeNull();
});

test('the time and method of authentication come from the session', async () => {
  const authentication = { at: new Date(0), amr: ['pwd'] };
  const session = {
    authentication: async () => authentication,
  } as unknown as ConstructorParameters<typeof RequestAuth>[0];
  const csrf = {} as ConstructorParameters<typeof RequestAuth>[2];
  const auth = new RequestAuth(session, answering({}), csrf);
  expect(await auth.authentication()).toBe(authentication);
});

describe('the accounts of several providers', () => {
  const asked: string[] = [];
  const provider = (name: string, knows: Readonly<Record<string, string>>): AccountProvider => ({
    name,
    find: async (id) => (Object.values(knows).includes(id) ? account(name, id) : null),
    authenticate: async (identifier, password) => {
      asked.push(name);
      const id = knows[identifier];
      return id === undefined || password !== name ? null : account(name, id);
    },
    holdsPermission: async (id, permission) => id === '7' && permission === `${name}:edit`,
  });
  const account = (name: string, id: string) => ({
    reference: { provider: name, id },
    isActive: () => true,
    getProfile: () => ({}),
  });
  const both = () => {
    asked.length = 0;
    return createAccounts([
      provider('staff', { ada: '7' }),
      provider('guests', { ada: '7', eve: '8' }),
    ]);
  };

  test('ask the next provider if one returns undefined', async () => {
    const absent = { ...provider('absent', {}), authenticate: async () => undefined as never };
    const accounts = createAccounts([absent, provider('guests', { eve: '8' })]);
    expect((await accounts.authenticate('eve', 'guests'))?.reference.id).toBe('8');
    expect(await accounts.authenticate('eve', 'wrong')).toBeNull();
  });

  test('are found only by both the provider and the id', async () => {
    const accounts = both();
    expect((await accounts.find({ provider: 'guests', id: '8' }))?.reference).toEqual({
      provider: 'guests',
      id: '8',
    });
    for (const person of [
      { provider: 'staff', id: '8' },
      { provider: 'others', id: '7' },
      { provider: 'toString', id: '7' },
    ])
      expect(await accounts.find(person)).toBeNull();
  });

  test('have only the permissions of their own provider', async () => {
    const accounts = both();
    const holds = (name: string, permission: string) =>
      accounts.holdsPermission({ provider: name, id: '7' }, permission);
    expect(await holds('staff', 'staff:edit')).toBe(true);
    expect(await holds('guests', 'staff:edit')).toBe(false);
    expect(await holds('others', 'staff:edit')).toBe(false);
  });

  test('sign in with the first provider that accepts the password, and later ones are not queried', async () => {
    const accounts = both();
    const signIn = async (identifier: string, password: string) => {
      asked.length = 0;
      return (await accounts.authenticate(identifier, password))?.reference ?? null;
    };
    expect([await signIn('ada', 'staff'), asked]).toEqual([
      { provider: 'staff', id: '7' },
      ['staff'],
    ]);
    expect(await signIn('ada', 'guests')).toEqual({ provider: 'guests', id: '7' });
    expect(asked).toEqual(['staff', 'guests']);
    expect(await signIn('ada', 'wrong')).toBeNull();
    expect(await signIn('eve', 'staff')).toBeNull();
  });

  test('are searched in every provider that supports search, in turn up to the limit', async () => {
    const searching = (name: string): AccountProvider => ({
      ...provider(name, {}),
      async search(text) {
        return ['1', '2'].map((id) => account(this.name, `${text}${id}`));
      },
    });
    const search = (limit: number, ...of: readonly AccountProvider[]) =>
      createAccounts(of).search?.('a', limit);
    const found = await search(3, searching('staff'), provider('none', {}), searching('guests'));
    expect(found?.map(({ reference }) => reference)).toEqual([
      { provider: 'staff', id: 'a1' },
      { provider: 'guests', id: 'a1' },
      { provider: 'staff', id: 'a2' },
    ]);
    expect(await search(9, searching('staff'), searching('guests'))).toHaveLength(4);
    const without = { ...provider('empty', {}), search: async () => [] };
    expect(await search(9, without, searching('guests'))).toHaveLength(2);
    expect(createAccounts([provider('staff', {})]).search).toBeNull();
  });

  test('are refused if two providers have the same name', () => {
    expect(() => createAccounts([provider('staff', {}), provider('staff', {})])).toThrow(
      'the same name',
    );
  });
});

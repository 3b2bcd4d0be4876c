import { describe, expect, test } from 'vitest';
import { createAccounts } from './accounts.ts';
import { createAuth } from './auth.ts';

const PERSON = { provider: 'own', id: '7' };

/** The accounts of a provider in JavaScript, which no compiler holds to its types. */
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
  } as unknown as Parameters<typeof createAuth>[0];
  const csrf = {} as Parameters<typeof createAuth>[2];
  return createAuth(session, answering({ active }), csrf);
};

describe('what is neither true nor false', () => {
  test.each([[true, true], [1, true], [false], [0], [2], ['1'], ['false'], [[]], [{ rows: [] }], [null]])(
    'is no permission, but for the 1 of an engine: %j',
    async (held, expected = false) => {
      expect(await answering({ held }).holdsPermission(PERSON, 'edit')).toBe(expected);
    },
  );

  test.each([
    [true, true],
    [1, true],
    [1n, true],
    [false, false],
    [0, false],
    [Promise.resolve(false), false],
    ['false', false],
    [null, false],
  ])('lets nobody go on in a session, but for the 1 of an engine: %s', async (active, expected) => {
    const auth = signedIn(active);
    expect((await auth.user()) !== null).toBe(expected);
    expect((await auth.person()) !== null).toBe(expected);
  });
});

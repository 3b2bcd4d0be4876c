import type { PersonReference } from 'portico';
import { describe, expect, test } from 'vitest';
import type { Application } from './contracts.ts';
import { kitHost } from './host.ts';

const ADA = { provider: 'own', id: 'ada' };
const AUTHENTICATION = { at: new Date(0), amr: ['pwd'] };

/** Creates the host of an application in which Ada is signed in. */
function hostOf({ exists = true, active = true, signIn = 'login', signedIn = true } = {}) {
  const ended: string[] = [];
  const auth = {
    person: async () => (signedIn ? { ...ADA } : null),
    authentication: async () => AUTHENTICATION,
    signOut: async () => void ended.push('session'),
  };
  const account = { reference: ADA, isActive: () => active, getProfile: () => ({}) };
  const application = {
    auth: () => auth,
    session: () => ({ secret: async () => 'a secret' }),
    path: (name: string) => `/route/${name}`,
    accounts: {
      find: async () => (exists ? account : null),
      search: null,
      holdsPermission: async (person: PersonReference, permission: string) =>
        person.id === 'ada' && permission === 'edit',
    },
  } as unknown as Application;
  return { host: kitHost(application, signIn), ended, account };
}
const REQUEST = new Request('https://app.example');

describe('the host of an application with the kit', () => {
  test.each([
    ['active', {}, []],
    ['inactive', { active: false }, ['session']],
    ['unknown', { exists: false }, ['session']],
  ])('ends the session of a person whose account is %s: %j', async (_, state, expected) => {
    const { host, ended, account } = hostOf(state);
    const person = (await host.signedIn(REQUEST)) ?? ADA;
    expect(person).toEqual(ADA);
    const found = await host.loadAccount(person);
    expect(found).toBe('exists' in state ? null : account);
    expect(ended).toEqual(expected);
  });

  test('ends no session if an account is loaded without a session', async () => {
    const { host, ended } = hostOf({ active: false });
    await host.loadAccount({ ...ADA });
    expect(ended).toEqual([]);
    expect(await hostOf({ signedIn: false }).host.signedIn(REQUEST)).toBeNull();
  });

  test('checks permissions with the accounts', async () => {
    const { host } = hostOf();
    expect([
      await host.holdsPermission(ADA, 'edit'),
      await host.holdsPermission(ADA, 'read'),
    ]).toEqual([true, false]);
  });

  test.each([
    ['login', '/route/login?return_to=%2Fa'],
    ['/own/page', '/own/page?return_to=%2Fa'],
    ['page/', '/route/page/?return_to=%2Fa'],
  ])('sends people to the sign-in page %s', async (signIn, url) => {
    const { host, ended } = hostOf({ signIn });
    expect(host.loginUrl('/a')).toBe(url);
    expect(await host.signOut?.(REQUEST, '/a')).toBe(url);
    expect(ended).toEqual(['session']);
    expect(host.reauthenticateUrl?.('/a', { acrValues: [], maxAge: null } as never)).toBe(
      `${url}&again=1`,
    );
  });

  test('identifies the session by its secret, and ends it', async () => {
    const { host, ended } = hostOf();
    expect(await host.browserSecret(REQUEST, ADA)).toBe('a secret');
    expect(await host.sessionId?.(REQUEST)).toBe('a secret');
    expect(await host.authenticatedAt?.(REQUEST)).toBe(AUTHENTICATION);
    expect(await host.endSession?.(REQUEST, null as never)).toBeNull();
    expect(ended).toEqual(['session']);
  });
});

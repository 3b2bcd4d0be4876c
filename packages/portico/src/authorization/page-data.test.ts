import { expect, test } from 'vitest';
import { Speaking } from '../pages/speaking.ts';
import type { Profile, UserInterface } from '../person.ts';
import type { Client, RegisteredBy } from '../store/client.ts';
import { createScopeCatalog, getSpeakingOptions } from '../tokens/scopes.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { accessLasts } from './access-lasts.ts';
import { consentPageData } from './consent-page.ts';
import type { ConsentQuestion } from './consent-question.ts';
import { shownGroups, shownLook, shownPerson, shownScopes } from './page-data.ts';

const scopes = {
  'notes:read': { label: 'Read your notes', description: 'Every note' },
  'notes:write': 'Write your notes',
};
const catalog = createScopeCatalog(scopes);
const words = await new Speaking(getSpeakingOptions({ scopes })).of(
  new Request('https://as.example/'),
);

test.each([
  [2_592_000, '30 days'],
  [86_400, '1 day'],
  [172_799, '47 hours'],
  [172_800, '2 days'],
  [172_801, '2 days'],
  [90_000, '25 hours'],
  [7200, '2 hours'],
  [7199, '119 minutes'],
  [5400, '90 minutes'],
  [3600, '1 hour'],
  [120, '2 minutes'],
  [119, '119 seconds'],
  [60, '1 minute'],
  [1, '1 second'],
])(
  'access for %i seconds is shown as %s, for clients with and without refresh',
  (seconds, time) => {
    const lastsFor = (grants: Client['grants'], lifetimes: Parameters<typeof accessLasts>[1]) =>
      accessLasts(storedClient('app', 0, { grants }), lifetimes, words);
    expect(
      lastsFor(['authorization_code', 'refresh_token'], {
        access_token_ttl: 9,
        refresh_token_ttl: seconds,
      }),
    ).toEqual({ renews: true, time });
    expect(
      lastsFor(['authorization_code'], { access_token_ttl: seconds, refresh_token_ttl: 9 }),
    ).toEqual({ renews: false, time });
  },
);

test('only text of the host is shown about the person', () => {
  const shown = (profile: unknown) => {
    const user: UserInterface = {
      reference: { provider: 'staff', id: '7' },
      isActive: () => true,
      getProfile: () => profile as Profile,
    };
    return shownPerson(user);
  };
  expect(shown({ name: 'Ada', email: 'ada@example.com' })).toEqual({
    name: 'Ada',
    email: 'ada@example.com',
  });
  for (const profile of [{}, { name: 1, email: ['<b>'] }, { name: null, email: {} }, null])
    expect(shown(profile)).toEqual({ name: null, email: null });
});

test('a scope is shown with its texts, and with a field only if the person can choose it', () => {
  expect(shownScopes(['notes:read', 'notes:write', 'gone'], catalog, words)).toEqual([
    { name: 'notes:read', label: 'Read your notes', description: 'Every note' },
    { name: 'notes:write', label: 'Write your notes', description: null },
    // The server no longer has this scope.
    { name: 'gone', label: 'gone', description: null },
  ]);
  const choosable = ['notes:write'];
  const [read, write] = shownScopes(['notes:read', ...choosable], catalog, words, choosable);
  expect([read?.field, write?.field]).toEqual([undefined, 'scope.notes:write']);
  const headings = [{ group: 'none', title: 'consent.scopes', holds: () => false }] as const;
  expect(shownGroups(choosable, { catalog, headings }, words, choosable)).toEqual([
    { group: 'other', title: 'It will be able to', scopes: [write] },
  ]);
});

test('only the website and logo of a verified client are shown', () => {
  const look = { siteUri: 'https://bücher.example/über', logoHash: 'a+b' };
  const shown = (registeredBy: RegisteredBy, logoPath: string | null, more = {}) =>
    shownLook({ id: 'the app', registeredBy, ...look, ...more }, logoPath);
  const site = { href: look.siteUri, host: 'xn--bcher-kva.example' };
  const logo = '/logo?client_id=the+app&v=a%2Bb';
  expect(shown('operator', '/logo')).toEqual({ site, logo });
  expect(shown('operator', null)).toEqual({ site, logo: null });
  expect(shown('operator', '/logo', { logoHash: undefined })).toEqual({ site, logo: null });
  expect(shown('operator', '/logo', { siteUri: undefined })).toEqual({ site: null, logo });
  for (const registeredBy of ['registration', 'document'] as const)
    expect(shown(registeredBy, '/logo')).toEqual({ site: null, logo: null });
});

test('the consent page has a checkbox only for scopes that the person may leave out or add', () => {
  const data = (more: Partial<ConsentQuestion>) => {
    const question = {
      client: storedClient('app', 0),
      user: { getProfile: () => ({ name: 'Ada' }) } as unknown as UserInterface,
      scopes: ['notes:read', 'notes:write'],
      grantedBefore: [],
      choices: undefined,
      resource: null,
      redirectUri: 'https://app.example/callback',
      requestId: 'id',
      csrfToken: 'token',
      ...more,
    } satisfies ConsentQuestion;
    const server = {
      serverName: 'A server',
      catalog,
      headings: [],
      action: '/authorize',
      applicationsPath: '/applications',
      logoPath: null,
      lifetimes: { access_token_ttl: 60, refresh_token_ttl: 120 },
    };
    return consentPageData(question, server, words);
  };
  const fixed = data({});
  expect(fixed.scopes.map(({ name, field }) => [name, field])).toEqual([
    ['notes:read', undefined],
    ['notes:write', undefined],
  ]);
  expect([fixed.hasOptional, fixed.addableGroups, 'resource' in fixed]).toEqual([false, [], false]);

  const optional = data({ choices: { optional: ['notes:write'], added: [] }, resource: 'The API' });
  expect(optional.scopes.map(({ field }) => field)).toEqual([undefined, 'scope.notes:write']);
  expect([optional.hasOptional, optional.resource]).toEqual([true, 'The API']);

  const addable = data({ choices: { optional: [], added: ['notes:write'] } });
  expect(addable.scopes.map(({ name }) => name)).toEqual(['notes:read']);
  expect(addable.hasOptional).toBe(false);
  expect(addable.addableGroups.map(({ scopes: [first] }) => first?.field)).toEqual([
    'scope.notes:write',
  ]);
});

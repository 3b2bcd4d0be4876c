import { describe, expect, test } from 'vitest';
import { ENGLISH_WORDS } from '../../pages/words.ts';
import type { Authorization, Family } from '../../store/grant.ts';
import { createScopeCatalog } from '../../tokens/scopes.ts';
import { byApplication, shownApplication } from './entries.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const WAYS = { serverName: 'Portal', logoPath: '/logo' };

interface Given extends Partial<Omit<Authorization, 'family'>> {
  readonly family?: Partial<Family>;
}

function authorization({ family, ...changes }: Given = {}): Authorization {
  return {
    family: { id: '1', clientId: 'notebook', scopes: ['a', 'b'], ...family },
    clientName: 'The notebook',
    clientScopes: ['a', 'b', 'c'],
    clientRegisteredBy: 'operator',
    clientRedirectUris: ['https://notes.example/callback'],
    clientLook: { siteUri: 'https://notes.example/', logoHash: 'hash' },
    redeemed: true,
    usedAt: START + DAY,
    createdAt: START,
    ...changes,
  } as Authorization;
}

const entries = (...given: readonly Given[]) =>
  byApplication(given.map(authorization), WAYS, ENGLISH_WORDS);
const only = (...given: readonly Given[]) => {
  const [entry, ...others] = entries(...given);
  if (entry === undefined || others.length > 0) throw new Error('It is not one entry');
  return entry;
};

describe('the entry of an application', () => {
  test('describes the application of one authorization', () => {
    expect(only({})).toEqual({
      clientId: 'notebook',
      name: 'The notebook',
      unverified: null,
      site: { href: 'https://notes.example/', host: 'notes.example' },
      logo: '/logo?client_id=notebook&v=hash',
      answersTo: [{ kind: 'site', text: 'notes.example' }],
      issuers: [],
      since: START,
      lastActive: START + DAY,
      scopes: ['a', 'b'],
    });
  });

  test('combines all authorizations of one application', () => {
    const found = entries(
      { family: { scopes: ['a'] } },
      { family: { clientId: 'robot' } },
      { family: { scopes: ['b', 'a'], details: { given_by: 'https://one.example' } } },
      { family: { details: { given_by: 'https://one.example' } }, createdAt: START + 2 * DAY },
      { family: { scopes: ['gone'], details: { given_by: 'https://two.example' } } },
    );
    expect(found).toMatchObject([
      {
        clientId: 'notebook',
        scopes: ['a', 'b'],
        issuers: ['https://one.example', 'https://two.example'],
        since: START,
      },
      { clientId: 'robot', issuers: [] },
    ]);
  });

  test('has the latest use of all authorizations', () => {
    const never = { usedAt: null, redeemed: false };
    const uses = [START + 2 * DAY, START + DAY].map((usedAt) => ({ usedAt }));
    expect(only(never).lastActive).toBeNull();
    expect(only(never, never).lastActive).toBeNull();
    expect(only(...uses).lastActive).toBe(START + 2 * DAY);
    expect(only(...uses.toReversed()).lastActive).toBe(START + 2 * DAY);
    for (const order of [
      [never, {}],
      [{}, never],
    ])
      expect(only(...order).lastActive).toBe(START + DAY);
    // An earlier release did not store the time of the use.
    expect(only({ usedAt: null, redeemed: true }).lastActive).toBe(START);
  });

  test('names each place of an application once', () => {
    const clientRedirectUris = [
      'https://notes.example/a',
      'https://notes.example/b',
      'http://127.0.0.1/callback',
      'com.example.notes:/callback',
    ];
    expect(only({ clientRedirectUris }).answersTo.map(({ kind }) => kind)).toEqual([
      'site',
      'computer',
      'device',
    ]);
  });

  test('says of an unverified application where it comes from', () => {
    const stranger = { clientRegisteredBy: 'registration' } as const;
    expect(only(stranger)).toMatchObject({
      name: 'notes.example (not verified)',
      unverified: { from: 'notes.example', calledName: 'The notebook' },
      site: null,
      logo: null,
    });
    expect(only({ ...stranger, clientName: 'Portal' }).unverified?.calledName).toBeNull();
  });
});

describe('an application on the page', () => {
  const server = { catalog: createScopeCatalog({}), headings: [] };
  const shown = (...given: readonly Given[]) =>
    shownApplication(only(...given), ['email'], 'csrf', server, ENGLISH_WORDS);

  test('has the scopes that the permissions allow, and dates in UTC', () => {
    const scopes = [{ name: 'email', label: expect.any(String) as string, description: null }];
    const { scopes: _, issuers: __, ...described } = only({});
    expect(shown({ createdAt: START + DAY - 1 })).toEqual({
      ...described,
      givenBy: null,
      since: { iso: '2026-01-01T23:59:59.999Z', text: 'January 1, 2026' },
      lastActive: { iso: '2026-01-02T00:00:00.000Z', text: 'January 2, 2026' },
      scopes,
      groups: [{ group: 'other', title: expect.any(String) as string, scopes }],
      csrfToken: 'csrf',
    });
  });

  test('names the organizations, and no use if there was none', () => {
    const by = (issuer: string): Given => ({
      family: { details: { given_by: issuer } },
      usedAt: null,
      redeemed: false,
    });
    expect(shown(by('https://one.example'), by('https://two.example'))).toMatchObject({
      givenBy: 'https://one.example, https://two.example',
      lastActive: null,
    });
  });
});

import { beforeAll, describe, expect, test } from 'vitest';
import type { UserInterface } from '../../person.ts';
import { Speaking } from '../../pages/speaking.ts';
import { page } from '../../pages/words.ts';
import type { AuditEvent } from '../../auditing/audit.ts';
import type { ApplicationsView } from '../../endpoints/replies/applications-view.ts';
import { keyedHash } from '../../crypto.ts';
import { AuthorizationPageError } from '../../errors.ts';
import type { Authorization } from '../../store/grant.ts';
import { collectCatalogs } from '../../assembly/start-features.ts';
import { FEATURES } from '../../features.ts';
import { createScopeCatalog, getSpeakingOptions } from '../../tokens/scopes.ts';
import { byApplication } from './entries.ts';
import { ApplicationsPage } from './page.ts';
import type { Server } from '../../server.ts';
import type { AuthorizationRecords } from '../../store/sql/authorizations.ts';

const NOW = 1_800_000_000_000;
const ISSUER = 'https://portal.example/below';
const PAGE = '/below/oauth/applications';
const AT = `https://portal.example${PAGE}`;
const ADA = { provider: 'accounts', id: 'ada' };
const LOGGED_OUT = 'nobody';
const SCOPES = { 'notes:read': 'Read notes', 'notes:write': 'Write notes' };

let speaking: Speaking;
beforeAll(() => {
  speaking = new Speaking({
    ...getSpeakingOptions({ languages: ['en', 'de'], scopes: SCOPES }),
    catalogs: collectCatalogs(FEATURES),
  });
});

/** Returns an authorization that a user has given to a client. */
const allowed = (
  id: string,
  clientId: string,
  changes: Partial<Authorization> = {},
): Authorization =>
  ({
    family: { id, clientId, scopes: ['notes:read', 'notes:write'] },
    clientName: `The ${clientId}`,
    clientScopes: ['notes:read', 'notes:write'],
    clientRegisteredBy: 'operator',
    clientRedirectUris: ['https://client.example/callback'],
    clientLook: { logoHash: 'hash' },
    redeemed: true,
    usedAt: NOW,
    createdAt: NOW,
    ...changes,
  }) as Authorization;

/**
 * Creates the pages. The browser's cookie contains a user and a secret. `store` contains the active
 * authorizations.
 */
function start(logoPath: string | null = '/below/oauth/logo') {
  const events: AuditEvent[] = [];
  const asked: unknown[] = [];
  const state = {
    living: [allowed('1', 'notebook'), allowed('2', 'robot'), allowed('3', 'notebook')],
    endedBefore: '',
  };
  const views: unknown[] = [];
  const authorizations = {
    async listAuthorizations(person, now) {
      asked.push(['listed', person.id, now]);
      return state.living;
    },
    async revokeFamily(id, now) {
      asked.push(['revoked', id, now]);
      return id !== state.endedBefore;
    },
    confirmRevoked: async (person, clientId) => void asked.push(['confirmed', person.id, clientId]),
    confirmRevokedOfPerson: async (person) => void asked.push(['confirmed', person.id]),
  } satisfies Partial<AuthorizationRecords>;
  const server = {
    store: { authorizations },
    accounts: {
      async visitor(request: Request) {
        const [id = LOGGED_OUT, browserSecret = ''] = (
          request.headers.get('cookie') ?? LOGGED_OUT
        ).split('@');
        if (id === LOGGED_OUT) return null;
        const [provider = '', number = id] = id.split('/');
        const reference = id.includes('/')
          ? { provider, id: number }
          : { provider: 'accounts', id };
        const profile = { name: `The person ${id}` };
        const user: UserInterface = { reference, isActive: () => true, getProfile: () => profile };
        return { user, browserSecret, request };
      },
    },
    host: {
      holdsPermission: async (_: unknown, permission: string) => permission !== 'notes:write',
      loginUrl: (returnTo: string) => `/login?back=${encodeURIComponent(returnTo)}`,
      async render(view: string, data: unknown) {
        views.push(view);
        return JSON.stringify(data);
      },
    },
    scopes: createScopeCatalog(SCOPES),
    scopeHeadings: [],
    audit: async (event: AuditEvent) => void events.push(event),
    clock: () => NOW,
    givenAccess: () => null,
    issuer: ISSUER,
    paths: { home: '/below/' },
    config: { name: 'Portal' },
    speaking,
  } as unknown as Server;
  const endpoints = new ApplicationsPage(server, PAGE, logoPath);
  const list = (who: string, query = '', headers: Readonly<Record<string, string>> = {}) =>
    endpoints.list(new Request(`${AT}${query}`, { headers: { cookie: who, ...headers } }));
  return {
    endpoints,
    events,
    asked,
    state,
    views,
    list,
    shown: async (who: string, query = '') =>
      JSON.parse(String((await list(who, query)).body)) as ApplicationsView,
    remove: (who: string, form: Readonly<Record<string, string>>, query = '') => {
      const headers = { cookie: who };
      const body = new URLSearchParams(form);
      return endpoints.remove(new Request(`${AT}${query}`, { method: 'POST', headers, body }));
    },
  };
}

const ADAS = 'ada@secret';
const locationOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
  headers['Location'];

describe('the page of applications', () => {
  test('lists active access, once for each application, with its current scopes', async () => {
    const { list, shown, asked, views } = start();
    const reply = await list(ADAS);
    expect([reply.status, views]).toEqual([200, ['oauth/applications']]);
    expect(reply.headers['Content-Security-Policy']).toMatch(/form-action 'self' https:$/);
    expect(reply.headers['Content-Language']).toBe('en');
    expect(asked).toEqual([['listed', 'ada', NOW]]);
    const view = await shown(ADAS);
    expect(view).toMatchObject({
      serverName: 'Portal',
      person: { name: 'The person ada' },
      removed: false,
      removedAll: false,
      action: PAGE,
      removeAllPath: `${PAGE}?remove=all`,
      confirming: false,
      csrfToken: expect.stringMatching(/^[\w-]{43}$/) as string,
      home: '/below/',
    });
    expect(view.applications).toMatchObject([
      { clientId: 'notebook', name: 'The notebook', scopes: [{ name: 'notes:read' }] },
      { clientId: 'robot', name: 'The robot', scopes: [{ name: 'notes:read' }] },
    ]);
    expect(view.applications[0]?.logo).toContain('/below/oauth/logo');
    expect((await start(null).shown(ADAS)).applications[0]?.logo).toBeNull();
  });

  test('has a token in each form, valid only for its application, person and browser', async () => {
    const { shown } = start();
    const of = async (who: string) => {
      const { applications, csrfToken } = await shown(who);
      return [csrfToken, ...applications.map((each) => each.csrfToken)];
    };
    const whose = [ADAS, 'ada@another', 'grace@secret', 'elsewhere/ada@secret'];
    const tokens = (await Promise.all(whose.map(of))).flat();
    expect(new Set(tokens).size).toBe(3 * whose.length);
    // These tokens must not change: a user may send a form that another process or the previous
    // release rendered.
    const label = 'oauth/applications';
    expect(await of(ADAS)).toEqual([
      keyedHash('secret', `${label}/all`, 'accounts', 'ada'),
      keyedHash('secret', label, 'notebook', 'accounts', 'ada'),
      keyedHash('secret', label, 'robot', 'accounts', 'ada'),
    ]);
  });

  test.each<[string, Partial<ApplicationsView>]>([
    ['?removed=1', { removed: true, removedAll: false, confirming: false }],
    ['?removed=all', { removed: true, removedAll: true, confirming: false }],
    ['?remove=all', { removed: false, removedAll: false, confirming: true }],
    ['?remove=notebook', { removed: false, removedAll: false, confirming: false }],
  ])(
    'reports with %s what was removed, or asks whether to remove everything',
    async (query, said) => {
      expect(await start().shown(ADAS, query)).toMatchObject(said);
    },
  );

  test('does not ask for confirmation if no access is left', async () => {
    const { shown, state } = start();
    state.living = [];
    expect(await shown(ADAS, '?remove=all')).toMatchObject({ applications: [], confirming: false });
  });

  test('keeps the requested language', async () => {
    const { list, shown } = start();
    expect((await list(ADAS, '?ui_locales=de')).headers['Content-Language']).toBe('de');
    const { action, removeAllPath } = await shown(ADAS, '?ui_locales=de');
    expect([action, removeAllPath]).toEqual([
      `${PAGE}?ui_locales=de`,
      `${PAGE}?remove=all&ui_locales=de`,
    ]);
  });

  test('sends a signed-out person to sign-in and back, with the requested language', async () => {
    const { list, remove, asked } = start();
    const there = await list(LOGGED_OUT);
    expect([there.status, locationOf(there)]).toEqual([
      302,
      `/login?back=${encodeURIComponent(PAGE)}`,
    ]);
    const wishing = await list(LOGGED_OUT, '?ui_locales=de');
    const back = encodeURIComponent(`${PAGE}?ui_locales=de`);
    expect(locationOf(wishing)).toBe(`/login?back=${back}&ui_locales=de`);
    const removing = await remove(LOGGED_OUT, { client_id: 'notebook' });
    expect([removing.status, locationOf(removing)]).toEqual([
      303,
      `/login?back=${encodeURIComponent(PAGE)}`,
    ]);
    expect(asked).toEqual([]);
  });
});

describe('a removal on the page of applications', () => {
  const about = (authorization: string, clientId: string) => ({
    type: 'family_revoked',
    authorization,
    clientId,
    person: ADA,
    reason: 'person',
  });

  /** Returns the form for one application, or for all of them. */
  async function formOf(shown: ReturnType<typeof start>['shown'], clientId: string | null) {
    const { applications, csrfToken } = await shown(ADAS);
    if (clientId === null) return { remove: 'all', csrf_token: csrfToken };
    const { csrfToken: own = '' } = applications.find((each) => each.clientId === clientId) ?? {};
    return { client_id: clientId, csrf_token: own };
  }

  test('ends all active access of one application, and is audited', async () => {
    const { shown, remove, asked, events } = start();
    const form = await formOf(shown, 'notebook');
    asked.length = 0;
    const reply = await remove(ADAS, form, '?ui_locales=de');
    expect([reply.status, locationOf(reply)]).toEqual([303, `${PAGE}?removed=1&ui_locales=de`]);
    expect(asked).toEqual([
      ['listed', 'ada', NOW],
      ['revoked', '1', NOW],
      ['revoked', '3', NOW],
      ['listed', 'ada', NOW],
    ]);
    expect(events).toEqual([about('1', 'notebook'), about('3', 'notebook')]);
  });

  test('of everything ends all access, and does not audit what had already ended', async () => {
    const { shown, remove, asked, events, state } = start();
    state.endedBefore = '2';
    const form = await formOf(shown, null);
    asked.length = 0;
    expect(locationOf(await remove(ADAS, form))).toBe(`${PAGE}?removed=all`);
    const names = asked.map((each) => (each as readonly unknown[])[1]);
    expect(names).toEqual(['ada', '1', '2', '3', 'ada']);
    expect(events).toEqual([about('1', 'notebook'), about('3', 'notebook')]);
  });

  test('that finds nothing responds after the store has confirmed that no access is left', async () => {
    const { shown, remove, asked, events, state } = start();
    const [one, all] = [await formOf(shown, 'notebook'), await formOf(shown, null)];
    state.living = [allowed('2', 'robot')];
    asked.length = 0;
    await remove(ADAS, one);
    expect(asked).toEqual([
      ['listed', 'ada', NOW],
      ['confirmed', 'ada', 'notebook'],
    ]);
    state.living = [];
    asked.length = 0;
    await remove(ADAS, all);
    expect(asked).toEqual([
      ['listed', 'ada', NOW],
      ['confirmed', 'ada'],
    ]);
    expect(events).toEqual([]);
  });

  test('needs the token of its own form', async () => {
    const { shown, remove, asked, events } = start();
    const [one, all] = [await formOf(shown, 'notebook'), await formOf(shown, null)];
    asked.length = 0;
    for (const [who, form] of [
      [ADAS, { client_id: 'notebook' }],
      [ADAS, { client_id: 'notebook', csrf_token: 'made-up' }],
      [ADAS, { ...one, client_id: 'robot' }],
      [ADAS, { csrf_token: one.csrf_token }],
      [ADAS, { remove: 'all', csrf_token: one.csrf_token }],
      [ADAS, { client_id: 'notebook', csrf_token: all.csrf_token }],
      [ADAS, { client_id: 'notebook', remove: 'all', csrf_token: all.csrf_token }],
      [ADAS, { remove: 'everything', csrf_token: all.csrf_token }],
      ['ada@another', one],
      ['grace@secret', all],
    ] as const) {
      const refused = remove(who, form);
      await expect(refused).rejects.toBeInstanceOf(AuthorizationPageError);
      await expect(refused).rejects.toMatchObject({
        text: page('error.removal_not_accepted'),
        detail: 'the csrf_token is not valid for this application and browser session',
      });
    }
    expect([asked, events]).toEqual([[], []]);
  });
});

// A person can have any number of authorizations, and describing a client takes long.
test('an application is described once, however many authorizations it has', async () => {
  const words = await speaking.of(new Request(AT));
  const unverified = { clientRegisteredBy: 'registration' } as const;
  const described = (count: number) => {
    let texts = 0;
    const counting = Object.create(words, {
      t: { value: (...asked: Parameters<typeof words.t>) => ((texts += 1), words.t(...asked)) },
    }) as typeof words;
    const living = Array.from({ length: count }, (_, at) => allowed(`${at}`, 'robot', unverified));
    const [only] = byApplication(living, { serverName: 'Portal', logoPath: null }, counting);
    return { only, texts };
  };
  expect(described(1).texts).toBeGreaterThan(0);
  expect(described(50)).toEqual(described(1));
});

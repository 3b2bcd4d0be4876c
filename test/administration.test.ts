// @engines sqlite: pages are the same on every database
import { examine } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPageClock } from './support/clock.ts';
import {
  ADA,
  callApi,
  GRACE,
  obtainTokens,
  PASSWORD,
  REDIRECT_URI,
  refresh,
  registerClient,
  requestToken,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import {
  doAt,
  factsOf,
  formDoing,
  PAGES,
  PERMISSION,
  startAdministered,
  textOf,
  type Administered,
} from './support/administration.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

const clock = createPageClock();
const { minute } = clock;
let administered: Administered;
let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;

/** Every page that needs no parameters. */
const OPEN_PAGES = [
  '',
  '/clients',
  '/access',
  '/rotations',
  '/keys',
  '/registration',
  '/audit',
  '/doctor',
].map((path) => `${PAGES}${path}`);
let documents = 0;
/** Returns a client id that is a document's URL, not used yet. */
const newDocument = () => `https://app.example.org/client-${(documents += 1)}.json`;

beforeAll(async () => {
  administered = await startAdministered({
    clock: clock.now,
    random: () => 0,
    config: {
      oauth_server: {
        registration: 'initial_access_token',
        client_id_metadata_documents: { denied_hosts: ['denied.example'] },
        audit: { keep: true },
      },
    },
  });
  ({ portal } = administered);
});
afterAll(() => portal.close());
beforeEach(async () => {
  // More than a minute passes, so that an event of this test does not count requests of the
  // previous test.
  clock.advance(61);
  client = await registerClient(portal, { name: 'Notebook' });
  // A test that failed may have left these people in another state.
  await portal.restore(ADA);
  await portal.grant(ADA, PERMISSION);
  await portal.deny(GRACE, PERMISSION);
  ada = await portal.signedIn(ADA);
  administered.events.length = 0;
});

/** The box of a scope. */
const fieldOf = (scope: string) => `scope_${Buffer.from(scope).toString('hex')}`;
const pick = (fields: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, fields[name] ?? '']));
const pageOf = (id: string, ask = '') =>
  `${PAGES}/client?${new URLSearchParams({ id, ...(ask === '' ? {} : { ask }) })}`;
const asClient = (secret: string) =>
  requestToken(
    portal,
    { id: client.id, secret },
    { grant_type: 'authorization_code', code: 'none' },
  );
/**
 * Whether this is the client's secret. The server returns the error for a wrong code only to an
 * authenticated client.
 */
const isSecret = async (secret: string) => (await asClient(secret)).status === 400;
const shownSecret = async (page: Response) =>
  /<code class="secret">([^<]+)<\/code>/.exec(await page.clone().text())?.[1] ?? '';

describe('the page of an administrator', () => {
  test.each(['', '?provider=%00&id=1'])(
    'responds with 400, not a server error, to a form without a person: %j',
    async (query) => {
      const answer = await ada.post(`${PAGES}/person${query}`, { do: 'revoke-group' });
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining('role="alert"'),
      ]);
    },
  );

  // @shows AS-33.6
  test.each(OPEN_PAGES)('%s is shown to a person with the permission', async (path) => {
    const page = await ada.get(path);
    expect(page.status).toBe(200);
    const headers = Object.fromEntries(page.headers);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex',
      'referrer-policy': 'no-referrer',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; .*frame-ancestors 'none'/,
    );
    const html = await page.text();
    expect(html).not.toMatch(/<script|\son\w+=|javascript:/);
    expect(html.match(/aria-current="page"/g)).toHaveLength(1);
    for (const each of OPEN_PAGES) expect(html).toContain(`href="${each}"`);
  });

  // @shows AS-33.2
  test.each([...OPEN_PAGES, `${PAGES}/client?id=a%20b`])(
    '%s is refused with 403 for any other person',
    async (path) => {
      const grace = await portal.signedIn(GRACE);
      const refused = await grace.get(path);
      expect(refused.status).toBe(403);
      expect(await textOf(refused)).toContain('You have no access to this page');
      const [event, ...more] = administered.events;
      expect(event).toMatchObject({ type: 'admin_refused', reason: 'permission' });
      expect(more).toEqual([]);
      const lines = await administered.linesOf(refused);
      expect(lines).toMatchObject([
        { error: 'access_denied', detail: expect.stringContaining(PERMISSION) as string },
      ]);

      const stranger = portal.visitor();
      expect((await stranger.get(path)).status).toBe(302);
      const signInPage = await stranger.visit(path);
      const answer = await signIn(stranger, signInPage, ADA);
      expect(locationOf(answer).href).toBe(new URL(path, portal.url).href);
    },
  );

  // @shows AS-33.2
  test('checks the permission with the host on every request', async () => {
    const page = await ada.get(pageOf(client.id, 'revoke'));
    const { action, fields } = await formDoing(page, 'revoke');
    await portal.deny(ADA, PERMISSION);
    expect((await ada.get(`${PAGES}/clients`)).status).toBe(403);
    expect((await ada.post(action, fields)).status).toBe(403);
    expect((await portal.server.clients.find(client.id))?.revokedAt).toBeNull();
    await portal.grant(ADA, PERMISSION);
    expect((await ada.post(action, fields)).status).toBe(303);
  });

  // @shows AS-33.1
  test('does not exist without oauth_server:admin_permission, and is not in the metadata', async () => {
    const plain = await startPortal();
    try {
      const visitor = await plain.signedIn(ADA);
      for (const path of OPEN_PAGES) {
        expect((await visitor.get(path)).status).toBe(404);
        expect((await visitor.post(path, {})).status).toBe(404);
      }
      const metadata = async (of: RunningPortal) =>
        Object.keys(
          (await (await fetch(`${of.url}/.well-known/openid-configuration`)).json()) as object,
        );
      const more = (await metadata(portal)).filter(
        (name) => name !== 'registration_endpoint' && !name.startsWith('client_id_metadata'),
      );
      expect(more).toEqual(await metadata(plain));
    } finally {
      await plain.close();
    }
  });

  test('lists all clients, 50 per page, each once', async () => {
    const many = await startAdministered();
    try {
      const ids: string[] = [];
      for (let index = 0; index < 60; index += 1) {
        ids.push((await registerClient(many.portal, { name: `Number ${index}` })).id);
      }
      const visitor = await many.portal.signedIn(ADA);
      const found: string[] = [];
      for (let next: string | undefined = `${PAGES}/clients`; next !== undefined;) {
        const html = await (await visitor.get(next)).text();
        const shown = [...html.matchAll(/<h2 class="head"><a href="[^"]*\?id=([^"]+)"/g)].map(
          ([, id = '']) => id,
        );
        expect(shown.length).toBeLessThanOrEqual(50);
        found.push(...shown);
        next = /href="([^"]*after=[^"]*)"/.exec(html)?.[1];
      }
      expect(found).toEqual(ids.toSorted());
    } finally {
      await many.portal.close();
    }
  });
});

describe('an administrator', () => {
  // @shows AS-33.4, AS-33.5
  test('creates a new secret, shown once and audited, with an overlap for the previous one', async () => {
    const answer = await doAt(ada, pageOf(client.id, 'rotate-secret'), 'rotate-secret', {
      overlap: '3600',
    });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const secret = await shownSecret(answer);
    expect([await isSecret(secret), await isSecret(client.secret)]).toEqual([true, true]);
    expect(await textOf(await ada.get(`${PAGES}/rotations`))).toContain(client.id);
    expect(administered.events).toMatchObject([
      { type: 'secret_rotated', clientId: client.id, by: { provider: 'accounts' } },
    ]);
    for (const path of [...OPEN_PAGES, pageOf(client.id)])
      expect(await (await ada.get(path)).text()).not.toContain(secret);
    expect(await administered.log()).not.toContain(secret);
    expect(JSON.stringify(administered.events)).not.toContain(secret);
    clock.advance(3601);
    expect([await isSecret(secret), await isSecret(client.secret)]).toEqual([true, false]);
    expect(await textOf(await ada.get(`${PAGES}/rotations`))).not.toContain(client.id);
  });

  test('creates a new secret and ends the previous one immediately', async () => {
    const answer = await doAt(ada, pageOf(client.id, 'rotate-secret'), 'rotate-secret', {
      overlap: '0',
    });
    expect([await isSecret(await shownSecret(answer)), await isSecret(client.secret)]).toEqual([
      true,
      false,
    ]);
  });

  test.each(['-1', '1.5', 'tomorrow', '', '99999999999'])(
    'is refused an overlap of %j, and nothing changes',
    async (overlap) => {
      const answer = await doAt(ada, pageOf(client.id, 'rotate-secret'), 'rotate-secret', {
        overlap,
      });
      expect(answer.status).toBe(400);
      expect(await textOf(answer)).toContain('The overlap must be from 0 to 31536000 seconds');
      expect(await isSecret(client.secret)).toBe(true);
      expect(administered.events).toEqual([]);
      expect(await administered.linesOf(answer)).toMatchObject([{ error: 'invalid_input' }]);
    },
  );

  // @shows AS-33.4
  test('changes an application, whose next request no longer gets what was removed', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    administered.events.length = 0;
    const { action, fields } = await formDoing(
      await ada.get(pageOf(client.id, 'update')),
      'update',
    );
    const { [fieldOf('notes:read')]: _, ...kept } = fields;
    const redirectUris = `${fields['redirect_uris'] ?? ''}\r\n\r\n https://new.example/callback `;
    const answer = await ada.post(action, {
      ...kept,
      name: 'Renamed <b>',
      redirect_uris: redirectUris,
    });
    expect(answer.status).toBe(303);
    expect(await textOf(await ada.get(locationOf(answer).href))).toContain('Renamed <b>');
    expect(await portal.server.clients.find(client.id)).toMatchObject({
      name: 'Renamed <b>',
      redirectUris: [REDIRECT_URI, 'https://new.example/callback'],
      scopes: ['openid', 'profile', 'email', 'notes:write'],
      grants: ['authorization_code', 'refresh_token'],
    });
    expect(administered.events).toMatchObject([
      { type: 'client_updated', clientId: client.id, by: { provider: 'accounts' } },
    ]);
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(403);
  });

  test('changes nothing by sending the form of an application unchanged', async () => {
    const answer = await doAt(ada, pageOf(client.id, 'update'), 'update');
    expect(await textOf(await ada.get(locationOf(answer).href))).toContain(
      'Nothing was changed: the application',
    );
    expect(administered.events).toEqual([]);
  });

  // @shows AS-33.4
  test.each([
    [{ redirect_uris: 'javascript:alert(1)' }, 'The redirect URI'],
    [{ redirect_uris: '' }, 'needs a redirect URI'],
    [{ name: 'a\u202eb' }, 'invisible characters'],
    [{ grant_client_credentials: '', grant_authorization_code: '' }, 'refresh_token'],
  ])(
    'is refused a change to %j as in the console, and the form keeps its input',
    async (changes, reason) => {
      const { action, fields } = await formDoing(
        await ada.get(pageOf(client.id, 'update')),
        'update',
      );
      const typed: Readonly<Record<string, string>> = {
        ...fields,
        [fieldOf('notes:write')]: '',
        name: 'Typed',
        ...changes,
      };
      const before = await portal.server.clients.find(client.id);
      const answer = await ada.post(action, typed);
      expect(answer.status).toBe(400);
      expect(await textOf(answer)).toContain(reason);
      const again = await formDoing(answer, 'update');
      expect(again.fields).toMatchObject(pick(typed, ['name', 'redirect_uris']));
      expect(again.fields).not.toHaveProperty(fieldOf('notes:write'));
      expect(await portal.server.clients.find(client.id)).toEqual(before);
      expect(administered.events).toEqual([]);
      expect(
        (
          await ada.post(again.action, {
            ...again.fields,
            ...pick(fields, ['name', 'redirect_uris']),
            grant_authorization_code: '1',
          })
        ).status,
      ).toBe(303);
    },
  );

  // @shows AS-33.4
  test('revokes an application, which ends all its tokens and is audited', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    administered.events.length = 0;
    const answer = await doAt(ada, pageOf(client.id, 'revoke'), 'revoke');
    expect(answer.status).toBe(303);
    expect(await textOf(await ada.get(locationOf(answer).href))).toContain(
      'The application is revoked',
    );
    expect(administered.events).toMatchObject([
      { type: 'client_revoked', clientId: client.id, by: { provider: 'accounts' } },
    ]);
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(401);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(401);
    const { by } = administered.events[0] as { by?: { provider: string; id: string } };
    expect(await portal.application.accounts.find(by ?? { provider: '', id: '' })).toMatchObject({
      email: ADA,
    });
  });

  test('blocks and unblocks the URL of a document that was never used', async () => {
    const url = newDocument();
    const blocked = await doAt(ada, pageOf(url), 'revoke');
    expect(await textOf(await ada.get(locationOf(blocked).href))).toContain(
      'The URL is blocked, and all tokens of the application are revoked',
    );
    expect((await portal.server.clients.find(url))?.revokedAt).not.toBeNull();
    const unblocked = await doAt(ada, pageOf(url, 'unblock'), 'unblock');
    expect(await textOf(await ada.get(locationOf(unblocked).href))).toContain(
      'The URL is no longer blocked',
    );
    expect((await portal.server.clients.find(url))?.revokedAt).toBeNull();
    const by = { provider: 'accounts' };
    expect(administered.events).toMatchObject([
      { type: 'client_revoked', by },
      { type: 'client_unblocked', by },
    ]);
  });

  test('creates an initial access token, shown once, that works and can be revoked', async () => {
    const page = `${PAGES}/registration`;
    const made = await doAt(ada, page, 'create', {
      note: 'For the <shop>',
      uses: '2',
      lifetime: '60',
    });
    const token = await shownSecret(made);
    const register = () =>
      fetch(`${portal.url}/oauth/register`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['https://shop.example/cb'] }),
      });
    expect((await register()).status).toBe(201);
    const list = await ada.get(page);
    expect(await list.clone().text()).toContain('For the &lt;shop&gt;');
    expect(await list.clone().text()).not.toContain(token);
    expect(await textOf(list)).toContain('1 of 2 uses left');
    const revoked = await doAt(ada, page, 'revoke');
    expect(revoked.status).toBe(303);
    expect((await register()).status).toBe(401);
    const refused = await doAt(ada, page, 'create', { uses: '0', note: 'Again' });
    expect([refused.status, await refused.clone().text()]).toEqual([
      400,
      expect.stringContaining('value="Again"'),
    ]);
    expect(administered.events.filter(({ type }) => type.startsWith('initial'))).toMatchObject([
      { type: 'initial_access_token_created', by: { provider: 'accounts' } },
      { type: 'initial_access_token_revoked', by: { provider: 'accounts' } },
    ]);
  });

  // @shows AS-33.4
  test('finds one authorization by each filter and ends only that one', async () => {
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const other = await registerClient(portal, { name: 'Another' });
    const others = await obtainTokens(portal, other, GRACE, { scope: 'notes:read' });
    administered.events.length = 0;
    const { items } = await portal.server.access.list({ clientId: client.id });
    const person = items[0]?.person ?? { provider: '', id: '' };
    const filters = {
      client: client.id,
      provider: person.provider,
      person: person.id,
      scope: 'notes:read',
    };
    for (const filter of [
      filters,
      pick(filters, ['client']),
      pick(filters, ['provider', 'person']),
    ]) {
      const text = await textOf(await ada.get(`${PAGES}/access?${new URLSearchParams(filter)}`));
      expect(text).toContain(items[0]?.id);
      expect(text).not.toContain(other.id);
    }
    const none = await ada.get(
      `${PAGES}/access?${new URLSearchParams({ client: client.id, unused_days: '1' })}`,
    );
    expect(await textOf(none)).toContain('No active authorization matches');
    const answer = await doAt(ada, `${PAGES}/access?${new URLSearchParams(filters)}`, 'revoke');
    const after = await ada.get(locationOf(answer).href);
    expect(await textOf(after)).toContain('The access and its tokens are revoked');
    expect(await after.text()).toContain(`value="${client.id}"`);
    expect(administered.events).toMatchObject([
      {
        type: 'family_revoked',
        reason: 'operator',
        authorization: items[0]?.id,
        by: { provider: 'accounts' },
      },
    ]);
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(401);
    expect((await callApi(portal, '/api/whoami', others.access_token)).status).toBe(200);
  });

  // @shows AS-33.4
  test('ends all access that one person has allowed with one form', async () => {
    const first = await obtainTokens(portal, client, GRACE, { scope: 'openid' });
    const second = await obtainTokens(portal, await registerClient(portal), GRACE, {
      scope: 'openid',
    });
    const adas = await obtainTokens(portal, client, ADA, { scope: 'openid' });
    administered.events.length = 0;
    const { items } = await portal.server.access.list({ clientId: client.id });
    const grace = items.map(({ person }) => person);
    const personOf = async (email: string) => {
      for (const person of grace) {
        const account = await portal.application.accounts.find(person);
        if (account?.getProfile().email === email) return person;
      }
      throw new Error(`${email} is not in the list`);
    };
    const { provider, id } = await personOf(GRACE);
    const { items: graces } = await portal.server.access.list(
      { person: { provider, id } },
      { limit: 1000 },
    );
    const page = `${PAGES}/person?${new URLSearchParams({ provider, id })}`;
    expect(await textOf(await ada.get(page))).toContain('Access that this person allowed');
    const answer = await doAt(ada, `${page}&ask=revoke-all`, 'revoke-all');
    expect(await textOf(await ada.get(locationOf(answer).href))).toContain(
      'All access that this person had allowed has ended',
    );
    expect(administered.events).toMatchObject([
      {
        type: 'person_revoked',
        person: { provider, id },
        authorizations: graces.length,
        by: { provider: 'accounts' },
      },
    ]);
    for (const { access_token: token } of [first, second])
      expect((await callApi(portal, '/api/whoami', token)).status).toBe(401);
    expect((await callApi(portal, '/api/whoami', adas.access_token)).status).toBe(200);
  });

  test.each([
    ['/access?provider=accounts', 'Enter both the provider'],
    ['/access?person=1', 'Enter both the provider'],
    ['/access?scope=two%20words', 'scope is not valid'],
    ['/access?after=%3Cb%3E', 'Invalid cursor'],
    ['/access?unused_days=-1', 'a whole number of days'],
    ['/person?provider=accounts', 'must not be empty'],
    ['/person', 'must not be empty'],
    ['/clients?after=%00', 'Invalid cursor'],
    ['/audit?type=nothing', 'Unknown event type'],
    ['/audit?since=tomorrow', 'such as 2026-01-31'],
    ['/audit?since=%2B002026-01-31', 'such as 2026-01-31'],
    ['/audit?after=x', 'Invalid cursor'],
  ])('is refused the page %s, which explains what is wrong', async (path, reason) => {
    const page = await ada.get(`${PAGES}${path}`);
    expect(page.status).toBe(400);
    expect(await textOf(page)).toContain(reason);
  });

  test('can correct the filters of a refused list on the same page', async () => {
    for (const list of ['/access', '/audit']) {
      const page = await ada.get(`${PAGES}${list}?provider=accounts`);
      expect([page.status, await page.text()]).toEqual([
        400,
        expect.stringContaining('class="filters"'),
      ]);
    }
  });

  // @shows AS-33.7
  test('erases a person after a confirmation, which is audited', async () => {
    const tokens = await obtainTokens(portal, client, GRACE, { scope: 'openid' });
    const { items } = await portal.server.access.list({ clientId: client.id });
    const { provider, id } = items[0]?.person ?? { provider: '', id: '' };
    const page = `${PAGES}/person?${new URLSearchParams({ provider, id })}`;
    const erasures = async () =>
      (await portal.server.audit.list({ type: 'person_erased' }, { limit: 1000 })).items;
    const earlier = await erasures();
    administered.events.length = 0;
    const question = await ada.get(`${page}&ask=erase`);
    expect(await textOf(question)).toContain('This cannot be undone');
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
    const { action, fields } = await formDoing(question, 'erase');
    const answer = await ada.post(action, fields);
    expect(await textOf(await ada.get(locationOf(answer).href))).toContain(
      'Everything stored about this person is removed',
    );
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(401);
    expect(administered.events).toMatchObject([
      { type: 'person_erased', by: { provider: 'accounts' } },
    ]);
    const events = await erasures();
    expect(events).toHaveLength(earlier.length + 1);
    expect(JSON.stringify(events)).not.toContain(id);
    expect((await ada.post(action, fields)).status).toBe(400);
  });

  // @shows AS-31.8
  test('can erase their own account without leaving their address in any event', async () => {
    await portal.grant(GRACE, PERMISSION);
    const grace = await portal.signedIn(GRACE);
    await obtainTokens(portal, client, GRACE, { scope: 'openid' });
    const { items } = await portal.server.access.list({ clientId: client.id });
    const { provider, id } = items[0]?.person ?? { provider: '', id: '' };
    const page = `${PAGES}/person?${new URLSearchParams({ provider, id, ask: 'erase' })}`;
    expect((await doAt(grace, page, 'erase')).status).toBe(303);
    await portal.deny(GRACE, PERMISSION);
    const [erased] = (await portal.server.audit.list({ type: 'person_erased' })).items;
    expect(erased).toMatchObject({ address: null, requestId: null, by: erased?.person });
    expect(JSON.stringify(erased)).not.toContain(id);
  });

  test('sees the stored audit events, by each filter', async () => {
    await doAt(ada, pageOf(client.id, 'rotate-secret'), 'rotate-secret');
    const [event] = (
      await portal.server.audit.list({ clientId: client.id, type: 'secret_rotated' })
    ).items;
    const shown = async (filter: Readonly<Record<string, string>>) =>
      textOf(await ada.get(`${PAGES}/audit?${new URLSearchParams(filter)}`));
    const rotated = await shown({ type: 'secret_rotated', client: client.id });
    for (const part of [client.id, event?.requestId, 'previous_expires_at', 'by'])
      expect(rotated).toContain(part);
    expect(await shown({ type: 'consent_denied', client: client.id })).toContain(
      'No event matches',
    );
    expect(await shown({ client: client.id, until: '2001-01-01' })).toContain('No event matches');
    expect(await shown({ client: client.id, since: '2001-01-01' })).toContain('secret_rotated');
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    const [issued] = (await portal.server.audit.list({ type: 'tokens_issued' })).items;
    const about = await shown({ authorization: issued?.authorization ?? '' });
    expect(about).toContain('consent_granted');
    expect(about).not.toContain('previous_expires_at');
  });

  test('replaces signing keys in stages or immediately, which is audited', async () => {
    const page = `${PAGES}/keys`;
    await portal.server.keys.rotate({ now: true });
    administered.events.length = 0;
    const [before] = await portal.server.keys.list();
    const staged = await doAt(ada, `${page}?ask=rotate`, 'rotate');
    expect(await textOf(await ada.get(locationOf(staged).href))).toContain(
      'published, signs later',
    );
    expect(await textOf(await ada.get(`${PAGES}/rotations`))).toContain('signs from');
    const stale = await formDoing(await ada.get(`${page}?ask=rotate`), 'rotate');
    const now = await doAt(ada, `${page}?ask=rotate-now`, 'rotate-now');
    const after = await textOf(await ada.get(locationOf(now).href));
    expect(after).toContain('The new keys sign');
    expect(after).not.toContain(before?.kid);
    expect((await ada.post(stale.action, stale.fields)).status).toBe(400);
    const keys = administered.events.filter(({ type }) => type.startsWith('signing_key'));
    expect(keys.map(({ type }) => type)).toEqual([
      'signing_key_staged',
      'signing_key_created',
      'signing_key_removed',
      'signing_key_removed',
    ]);
    expect(keys.every((event) => 'by' in event && typeof event.by === 'object')).toBe(true);
    expect((await fetch(`${portal.url}/.well-known/jwks.json`)).status).toBe(200);
  });

  test('finds all open rotations, however many clients there are', async () => {
    const many = await startAdministered();
    try {
      const { database } = many.portal.application;
      const known = await registerClient(many.portal);
      const { rows } = await database.execute(`SELECT * FROM oauth_clients WHERE client_id = ?`, [
        known.id,
      ]);
      const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'client_id');
      await database.execute(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5999)
        INSERT INTO oauth_clients (client_id, ${names.join(', ')})
        SELECT printf('%06d', i), ${names.join(', ')} FROM n, oauth_clients WHERE client_id = '${known.id}'`);
      await database.execute(
        "UPDATE oauth_clients SET previous_secret_expires_at = ? WHERE client_id IN ('000000', '005999')",
        [Date.now() + 3_600_000],
      );
      const visitor = await many.portal.signedIn(ADA);
      const first = await (await visitor.get(`${PAGES}/rotations`)).text();
      expect([first.includes('>000000<'), first.includes('>005999<')]).toEqual([true, false]);
      const [, next = ''] = /href="([^"]*after=[^"]*)"/.exec(first) ?? [];
      const second = await (await visitor.get(next)).text();
      expect([second.includes('>000000<'), second.includes('>005999<')]).toEqual([false, true]);
      expect(second).not.toContain('after=');
      const { open_rotations: open } = await examine(many.portal.application, many.portal.server);
      expect(open.map(({ client_id: id }) => id)).toEqual(['000000', '005999']);
    } finally {
      await many.portal.close();
    }
  });

  test('sees the findings of the doctor command', async () => {
    const text = await textOf(await ada.get(`${PAGES}/doctor`));
    for (const part of ['configuration', 'store', 'schema', 'signing key', 'endpoints', 'views']) {
      expect(text).toMatch(new RegExp(` ${part} ok `));
    }
    expect(text).toContain('No check fails');
  });
});

describe('people on the administration pages', () => {
  const PEOPLE = 'people@example.com';
  /** What a person reads in the main part of a page. */
  const shown = async (path: string) => textOf(await ada.get(`${PAGES}${path}`));

  // @shows AS-33.11
  test('are shown with name and e-mail address beside their ids, on every page', async () => {
    await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const { items } = await portal.server.access.list({ clientId: client.id });
    const { provider, id } = items[0]?.person ?? { provider: '', id: '' };
    const person = new URLSearchParams({ provider, id });
    for (const path of [
      `/access?client=${client.id}`,
      `/person?${person}`,
      `/person?${person}&ask=erase`,
      `/audit?client=${client.id}&type=consent_granted`,
    ]) {
      const text = await shown(path);
      for (const part of ['Ada Lovelace', ADA, id])
        expect([path, text.includes(part)]).toEqual([path, true]);
    }
  });

  // @shows AS-33.11
  test.each([
    ['lovelace', `Ada Lovelace ${ADA}`, GRACE],
    ['ADA@EXAMPLE', `Ada Lovelace ${ADA}`, GRACE],
    [' hopper ', `Grace Hopper ${GRACE}`, ADA],
  ])('are found by part of the name or e-mail address: %j', async (text, found, other) => {
    const page = await shown(`/access?${new URLSearchParams({ q: text })}`);
    expect(page).toContain(found);
    expect(page).not.toContain(other);
  });

  // @shows AS-33.11
  test('are found by the id, and no character acts as a wildcard', async () => {
    const account = await portal.application.accounts.search?.(GRACE, 5);
    const { provider = '', id = '' } = account?.[0]?.reference ?? {};
    expect(await shown(`/access?q=${id}`)).toContain('Grace Hopper');
    expect(await shown(`/access?${new URLSearchParams({ provider, person: id })}`)).toContain(
      'No active authorization',
    );
    for (const text of ['%', '_', '!', '%a%', PEOPLE])
      expect(await shown(`/access?${new URLSearchParams({ q: text })}`)).toContain(
        'No one was found',
      );
    for (const text of ['x'.repeat(101), '\0', 'a\nb', '\ud800']) {
      const page = await ada.get(`${PAGES}/access?${new URLSearchParams({ q: text })}`);
      expect([
        text,
        page.status === 400 || (await textOf(page)).includes('No one was found'),
      ]).toEqual([text, true]);
    }
  });

  // @shows AS-33.12
  test('have one row per application with a count, and one form that ends all of it', async () => {
    const tokens = [];
    for (let count = 0; count < 3; count += 1)
      tokens.push(
        await obtainTokens(portal, client, ADA, { scope: count === 0 ? 'notes:read' : 'openid' }),
      );
    const others = await obtainTokens(portal, client, GRACE, { scope: 'notes:read' });
    administered.events.length = 0;
    const list = `${PAGES}/access?client=${client.id}`;
    const html = await (await ada.get(list)).text();
    expect(html.match(/<li class="held">/g)).toHaveLength(2);
    const text = await textOf(await ada.get(list));
    expect(text).toContain('3 authorizations');
    // One by one on the page of the person.
    const one =
      /href="([^"]*person[^"]*client=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await (await ada.get(one)).text()).match(/<li class="held">/g)).toHaveLength(3);
    // A form that was shown before there was another authorization ends no authorization.
    const stale = await formDoing(await ada.get(list), 'revoke-group');
    tokens.push(await obtainTokens(portal, client, ADA, { scope: 'openid' }));
    administered.events.length = 0;
    expect((await ada.post(stale.action, stale.fields)).status).toBe(400);
    const answer = await doAt(ada, list, 'revoke-group');
    expect(await textOf(await ada.get(locationOf(answer).href))).toContain(
      'The access and its tokens are revoked',
    );
    expect(administered.events.filter(({ type }) => type === 'family_revoked')).toHaveLength(4);
    for (const { access_token: token } of tokens)
      expect((await callApi(portal, '/api/whoami', token)).status).toBe(401);
    expect((await callApi(portal, '/api/whoami', others.access_token)).status).toBe(200);
  });
});

describe('the overview of the administration pages', () => {
  const numbers = async () => {
    const html = await (await ada.get(PAGES)).text();
    const tiles = [...html.matchAll(/<strong>([\d,]+)[^]*?<\/strong> <span>([^<]+)<\/span>/g)];
    return Object.fromEntries(
      tiles.map(([, count = '', name = '']) => [name, Number(count.replace(',', ''))]),
    );
  };

  test.each([
    ['web', false, 'web'],
    ['public', true, 'web'],
    ['native', true, 'native'],
  ])('leads to the form that registers an application of the kind %s', async (kind, open, type) => {
    const page = `${PAGES}/clients?ask=register`;
    const { action, fields } = await formDoing(await ada.get(page), 'register');
    expect(fields['kind']).toBe('web');
    const typed = { kind, name: 'A shop', [fieldOf('notes:read')]: '1' };
    const refused = await ada.post(action, { ...fields, ...typed, redirect_uris: '' });
    const again = await formDoing(refused, 'register');
    expect(again.fields).toMatchObject({ kind });
    const done = await ada.post(again.action, { ...again.fields, redirect_uris: REDIRECT_URI });
    expect([done.status, (await shownSecret(done)) === '']).toEqual([200, open]);
    const event = administered.events.find(({ type: each }) => each === 'client_registered');
    const id = event !== undefined && 'clientId' in event ? (event.clientId ?? '') : '';
    expect(await portal.server.clients.find(id)).toMatchObject({
      public: open,
      applicationType: type,
    });
  });

  // @shows AS-33.13
  test('counts applications, people, authorizations, rotations and keys', async () => {
    const before = await numbers();
    await registerClient(portal);
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    await portal.server.clients.rotateSecret(client.id);
    const after = await numbers();
    const more = Object.fromEntries(
      Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
    );
    expect(more).toMatchObject({
      Applications: 1,
      Authorizations: 2,
      'Open rotations': 1,
      'Keys that no longer sign': 0,
    });
    await portal.server.clients.revoke(client.id);
    const revoked = await numbers();
    expect(revoked['Authorizations']).toBe((after['Authorizations'] ?? 0) - 2);
    expect(revoked['People with access']).toBeLessThanOrEqual(2);
  });

  test('links to the form that registers an application, whose secret is shown once', async () => {
    for (const path of ['', '/clients'])
      expect(await (await ada.get(`${PAGES}${path}`)).text()).toContain(
        `href="${PAGES}/clients?ask=register"`,
      );
    administered.events.length = 0;
    const page = `${PAGES}/clients?ask=register`;
    const { action, fields } = await formDoing(await ada.get(page), 'register');
    const typed = { ...fields, name: 'A <shop>', [fieldOf('notes:read')]: '1' };
    const refused = await ada.post(action, { ...typed, redirect_uris: 'javascript:alert(1)' });
    expect(refused.status).toBe(400);
    expect(await textOf(refused)).toContain('The redirect URI');
    expect(administered.events).toEqual([]);
    const again = await formDoing(refused, 'register');
    expect(again.fields).toMatchObject({ name: 'A <shop>', redirect_uris: 'javascript:alert(1)' });
    const done = await ada.post(again.action, { ...again.fields, redirect_uris: REDIRECT_URI });
    expect([done.status, done.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const [event] = administered.events;
    expect(event).toMatchObject({ type: 'client_registered', by: { provider: 'accounts' } });
    const id = event !== undefined && 'clientId' in event ? (event.clientId ?? '') : '';
    const secret = await shownSecret(done);
    expect(await portal.server.clients.find(id)).toMatchObject({
      name: 'A <shop>',
      redirectUris: [REDIRECT_URI],
      scopes: ['notes:read'],
      public: false,
    });
    const credentials = { id, secret };
    const asked = await requestToken(portal, credentials, {
      grant_type: 'authorization_code',
      code: 'none',
    });
    expect(asked.status).toBe(400);
    expect(await administered.log()).not.toContain(secret);
    expect(
      (await ada.post(again.action, { ...again.fields, redirect_uris: REDIRECT_URI })).status,
    ).toBe(400);
  });
});

describe('a form of an administrator', () => {
  const FORMS = [
    ['revoke', 'revoke'],
    ['update', 'update'],
    ['rotate-secret', 'rotate-secret'],
  ] as const;

  const CODES: Readonly<Record<string, string>> = {
    form: 'form_not_accepted',
    origin: 'other_origin',
    permission: 'access_denied',
  };
  /** The result: no change, one line with the reason, one event. */
  async function expectNothing(answer: Response, reason: string, line: string): Promise<void> {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await isSecret(client.secret)).toBe(true);
    expect((await portal.server.clients.find(client.id))?.revokedAt).toBeNull();
    expect(administered.events).toMatchObject([{ type: 'admin_refused', reason }]);
    expect(await administered.linesOf(answer)).toMatchObject([
      { error: CODES[reason], detail: expect.stringContaining(line) as string },
    ]);
  }

  // @shows AS-33.3
  test.each(FORMS)(
    'does nothing for a different person or in a different browser: %s',
    async (ask, does) => {
      const { action, fields } = await formDoing(await ada.get(pageOf(client.id, ask)), does);
      const elsewhere = await portal.signedIn(ADA);
      await expectNothing(await elsewhere.post(action, fields), 'form', 'csrf_token');
      clock.advance(61);
      administered.events.length = 0;
      await portal.grant(GRACE, PERMISSION);
      const grace = await portal.signedIn(GRACE);
      await expectNothing(await grace.post(action, fields), 'form', 'csrf_token');
      await portal.deny(GRACE, PERMISSION);
      administered.events.length = 0;
      await expectNothing(
        await (await portal.signedIn(GRACE)).post(action, fields),
        'permission',
        PERMISSION,
      );
      expect(locationOf(await portal.visitor().post(action, fields)).pathname).toBe('/login');
    },
  );

  // @shows AS-33.3
  test.each(FORMS)('does nothing with a field changed or left out: %s', async (ask, does) => {
    const { action, fields } = await formDoing(await ada.get(pageOf(client.id, ask)), does);
    for (const name of ['do', 'form_id', 'shown_at', 'state', 'csrf_token']) {
      for (const value of [
        '',
        'x',
        `${fields[name] ?? ''}0`,
        does === 'revoke' ? 'rotate-secret' : 'revoke',
        'constructor',
      ]) {
        await expectNothing(await ada.post(action, { ...fields, [name]: value }), 'form', '');
        clock.advance(61);
        administered.events.length = 0;
      }
    }
    const other = await registerClient(portal);
    administered.events.length = 0;
    await expectNothing(await ada.post(pageOf(other.id), fields), 'form', 'csrf_token');
    expect((await portal.server.clients.find(other.id))?.revokedAt).toBeNull();
  });

  // @shows AS-33.3
  test.each([
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Site', 'same-site'],
    ['Origin', 'https://attacker.example'],
  ])('does nothing if a page of a different site sends it: %s: %s', async (name, value) => {
    const { action, fields } = await formDoing(
      await ada.get(pageOf(client.id, 'revoke')),
      'revoke',
    );
    const answer = await fetch(new URL(action, portal.url), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: ada.cookies(), [name]: value },
      body: new URLSearchParams(fields),
    });
    expect(answer.status).toBe(403);
    await expectNothing(answer, 'origin', 'another origin');
  });

  // @shows AS-33.3
  test('does nothing after 30 minutes', async () => {
    const { action, fields } = await formDoing(
      await ada.get(pageOf(client.id, 'revoke')),
      'revoke',
    );
    clock.advance(1801);
    const answer = await ada.post(action, fields);
    await expectNothing(answer, 'form', '30 minutes');
    expect(await answer.text()).toContain(`<a href="${pageOf(client.id)}">Open the page again</a>`);
  });

  // @shows AS-33.3
  test('creates no second secret if it was already sent or the secret has changed since', async () => {
    const page = pageOf(client.id, 'rotate-secret');
    const [first, second] = [
      await formDoing(await ada.get(page), 'rotate-secret'),
      await formDoing(await ada.get(page), 'rotate-secret'),
    ];
    const secret = await shownSecret(await ada.post(first.action, first.fields));
    administered.events.length = 0;
    for (const [form, line] of [
      [second, 'has changed'],
      [first, 'has changed'],
    ] as const) {
      const answer = await ada.post(form.action, form.fields);
      expect(answer.status).toBe(400);
      expect(await administered.linesOf(answer)).toMatchObject([
        { detail: expect.stringContaining(line) as string },
      ]);
    }
    expect(administered.events.map(({ type }) => type)).toEqual(['admin_refused']);
    expect([await isSecret(secret), await isSecret(client.secret)]).toEqual([true, true]);
  });

  test('creates no second initial access token if it was already sent', async () => {
    const { action, fields } = await formDoing(await ada.get(`${PAGES}/registration`), 'create');
    expect((await ada.post(action, fields)).status).toBe(200);
    const answer = await ada.post(action, fields);
    expect([answer.status, await shownSecret(answer)]).toEqual([400, '']);
    expect(await administered.linesOf(answer)).toMatchObject([
      { detail: 'the form was already sent' },
    ]);
    expect(administered.events.map(({ type }) => type)).toEqual([
      'initial_access_token_created',
      'admin_refused',
    ]);
  });

  test('does not unblock a URL that was blocked again after the form was shown', async () => {
    const url = newDocument();
    await doAt(ada, pageOf(url), 'revoke');
    const stale = await formDoing(await ada.get(pageOf(url, 'unblock')), 'unblock');
    await doAt(ada, pageOf(url, 'unblock'), 'unblock');
    clock.advance(1);
    await doAt(ada, pageOf(url, 'revoke'), 'revoke');
    expect((await ada.post(stale.action, stale.fields)).status).toBe(400);
    expect((await portal.server.clients.find(url))?.revokedAt).not.toBeNull();
  });

  // @shows AS-33.3
  test('takes effect exactly once if it is sent twice at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { action, fields } = await formDoing(
        await ada.get(pageOf(client.id, 'rotate-secret')),
        'rotate-secret',
      );
      const answers = await Promise.all([1, 2, 3].map(() => ada.post(action, fields)));
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
        200, 400, 400,
      ]);
    }
    expect(administered.events.filter(({ type }) => type === 'secret_rotated')).toHaveLength(5);
  });

  test('leads to sign-in and does nothing if its person has signed out', async () => {
    const visitor = await portal.signedIn(ADA);
    const page = pageOf(client.id, 'revoke');
    const { action, fields } = await formDoing(await visitor.get(page), 'revoke');
    await portal.suspend(ADA);
    const answer = await visitor.post(action, fields);
    await portal.restore(ADA);
    expect([answer.status, locationOf(answer).pathname]).toEqual([303, '/login']);
    expect((await portal.server.clients.find(client.id))?.revokedAt).toBeNull();
    const back = await signIn(visitor, await visitor.get(locationOf(answer).href), ADA, PASSWORD);
    expect(locationOf(back).pathname).toBe(`${PAGES}/client`);
  });
});

describe('the page of an application', () => {
  /** The actions that the page offers. */
  const offered = async (id: string) => {
    const html = await (await ada.get(pageOf(id))).text();
    return [...html.matchAll(/ask=([^"]*)">([^<]*)</g)].map(([, ask, text]) => [ask, text]);
  };
  const facts = async (id: string) => factsOf(await ada.get(pageOf(id)));
  const CHANGE = ['update', 'Change it…'];
  const SECRET = ['rotate-secret', 'Give it a new secret…'];

  // @shows AS-33.4
  test('offers only possible actions, and none that would reactivate a revoked application', async () => {
    expect(await offered(client.id)).toEqual([CHANGE, SECRET, ['revoke', 'Revoke it…']]);
    const { id: open } = await registerClient(portal, { public: true });
    expect(await offered(open)).toEqual([CHANGE, ['revoke', 'Revoke it…']]);
    await portal.server.clients.revoke(client.id);
    expect(await offered(client.id)).toEqual([]);
    expect(await textOf(await ada.get(pageOf(client.id)))).toContain('It is revoked permanently');
    expect(await textOf(await ada.get(pageOf(open)))).not.toContain('revoked');
  });

  test('offers to block or unblock the URL of a document, but not to change it', async () => {
    const url = newDocument();
    await portal.server.clients.revoke(url);
    expect(await offered(url)).toEqual([['unblock', 'Unblock it…']]);
    await portal.server.clients.unblock(url);
    expect(await offered(url)).toEqual([['revoke', 'Block it…']]);
  });

  // @shows AS-21.9
  test('says that the configuration refuses a document, and lets it be blocked', async () => {
    const url = 'https://denied.example/client.json';
    await portal.server.clients.revoke(url);
    await portal.server.clients.unblock(url);
    const refused = { 'Gets no access now': expect.stringContaining('denied_hosts') as string };
    const shown = await facts(url);
    expect(shown).toMatchObject({ ...refused, badges: ['public', 'a document'] });
    expect(shown).not.toHaveProperty('Blocked');
    expect(await offered(url)).toEqual([['revoke', 'Block it…']]);
    expect(await portal.server.clients.show(url)).toMatchObject({
      status: 'active',
      client: { revokedAt: null },
    });
    // Code that looks up the client still gets it as revoked.
    expect((await portal.server.clients.find(url))?.revokedAt).not.toBeNull();
    clock.advance(60);
    await ada.submit(await ada.get(pageOf(url, 'revoke')));
    expect(await facts(url)).toMatchObject({
      badges: ['public', 'a document', 'blocked'],
      Blocked: minute(),
    });
    expect(await offered(url)).toEqual([['unblock', 'Unblock it…']]);
  });

  test('asks for confirmation of an action, and explains whether it can be undone', async () => {
    const url = newDocument();
    await portal.server.clients.revoke(url);
    await portal.server.clients.unblock(url);
    const asked = async (id: string, ask: string) => {
      const page = await ada.get(pageOf(id, ask));
      const [, kind] = /<button class="([a-z]+)"/.exec(await page.clone().text()) ?? [];
      return [kind, await textOf(page)];
    };
    expect(await asked(client.id, 'revoke')).toEqual([
      'danger',
      expect.stringMatching(/Revoke this application\?.*You cannot undo this/),
    ]);
    expect(await asked(url, 'revoke')).toEqual([
      'danger',
      expect.stringMatching(/Block this application\?.*until you unblock its URL/),
    ]);
    const [kind] = await asked(client.id, 'update');
    expect(kind).toBe('primary');
  });

  test('shows the names and values of an application', async () => {
    const [created, later] = [minute(), minute(3600)];
    expect(await facts(client.id)).toEqual({
      badges: ['confidential'],
      Id: client.id,
      'Registered by': 'an operator',
      Since: created,
      Grants: 'authorization_code refresh_token',
      Scopes: expect.stringMatching(/^openid .* notes:read Read your notes notes:write /) as string,
      'Redirect URIs': REDIRECT_URI,
      'Authenticates by': 'client_secret_basic',
      'ID tokens signed with': 'RS256',
    });
    await portal.server.clients.rotateSecret(client.id, 3600);
    expect(await facts(client.id)).toMatchObject({
      'Previous secret': `is accepted until ${later}`,
    });
    const native = await registerClient(portal, {
      public: true,
      applicationType: 'native',
      scopes: ['notes:read'],
    });
    await portal.server.clients.revoke(native.id);
    const ended = await facts(native.id);
    expect(ended).toMatchObject({
      badges: ['public', 'native', 'revoked'],
      Revoked: created,
      'Authenticates by': 'none',
    });
    expect(ended).not.toHaveProperty('ID tokens signed with');
  });

  test('shows the origin of an application that no operator registered', async () => {
    const url = newDocument();
    await portal.server.clients.revoke(url);
    const document = {
      'URL (its id)': url,
      Origin: 'app.example.org',
      'Registered by': 'its document; its information is not verified',
      Since: minute(),
      Grants: 'none',
      Scopes: 'none',
      'Redirect URIs': 'none',
      'Authenticates by': 'none',
    };
    expect(await facts(url)).toEqual({
      ...document,
      badges: ['public', 'a document', 'blocked'],
      Blocked: minute(),
    });
    await portal.server.clients.unblock(url);
    expect(await facts(url)).toEqual({ ...document, badges: ['public', 'a document'] });
    const asking = { uses: 1, lifetime: 3600, note: '' };
    const { token } = await portal.server.initialAccessTokens.create(asking);
    const registered = await fetch(`${portal.url}/oauth/register`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://shop.example/cb'] }),
    });
    const { client_id: id } = (await registered.json()) as { client_id: string };
    expect(await facts(id)).toMatchObject({
      badges: ['confidential', 'registered itself'],
      Id: id,
      Origin: 'shop.example',
      'Registered by': 'itself; its information is not verified',
    });
  });

  test('shows the list of redirect URIs with one free line, from three to twelve lines', async () => {
    const rows = async (count: number) => {
      const redirectUris = Array.from({ length: count }, (_, at) => `https://app.example/${at}`);
      const { id } = await registerClient(portal, { redirectUris });
      const html = await (await ada.get(pageOf(id, 'update'))).text();
      return Number(/<textarea[^>]* rows="(\d+)"/.exec(html)?.[1]);
    };
    expect([await rows(1), await rows(4), await rows(15)]).toEqual([3, 5, 12]);
  });
});

describe('a list on the administration pages', () => {
  test('shows which filter is chosen', async () => {
    const options = async (query: string) => {
      const html = await (await ada.get(`${PAGES}/audit${query}`)).text();
      expect(html).toMatch(/<input id="client" name="client" type="text"/);
      return [...html.matchAll(/<option value="([^"]*)" selected>([^<]*)</g)].map(
        ([, value, text]) => [value, text],
      );
    };
    expect(await options('')).toEqual([['', 'all']]);
    expect(await options('?type=secret_rotated')).toEqual([['secret_rotated', 'secret_rotated']]);
  });

  test('keeps its filters in the URL after access was revoked, and adds no others', async () => {
    await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const { action } = await formDoing(
      await ada.get(`${PAGES}/access?client=${client.id}`),
      'revoke',
    );
    expect(action).toBe(`${PAGES}/access?client=${client.id}`);
    const done = await doAt(ada, action, 'revoke');
    expect([...locationOf(done).searchParams.keys()].toSorted()).toEqual(['client', 'done']);
    await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const all = await (await ada.get(`${PAGES}/access`)).text();
    expect(all).toContain(`<form method="post" action="${PAGES}/access">`);
  });

  // @shows AS-33.12
  test('summarizes what one person has allowed to one application', async () => {
    const text = async () => textOf(await ada.get(`${PAGES}/access?client=${client.id}`));
    const first = minute();
    await obtainTokens(portal, client, ADA, { scope: 'notes:read openid' });
    expect(await text()).toContain(
      `notes:read openid Since ${first} , last refreshed ${first} , until `,
    );
    clock.advance(3600);
    await obtainTokens(portal, client, ADA, { scope: 'notes:write openid' });
    const [last, until] = [minute(), minute(30 * 86_400)];
    expect(await text()).toContain(
      `notes:write openid notes:read Since ${first} , last refreshed ${last} , until ${until} .`,
    );
  });
});

describe('the page of a person', () => {
  /** Grace allows the application this often. Returns her page, for this application. */
  async function allowedByGrace(count: number): Promise<readonly [all: string, one: string]> {
    for (let each = 0; each < count; each += 1)
      await obtainTokens(portal, client, GRACE, { scope: 'openid' });
    const { items } = await portal.server.access.list({ clientId: client.id });
    const { provider, id } = items[0]?.person ?? { provider: '', id: '' };
    const page = (more: Readonly<Record<string, string>>) =>
      `${PAGES}/person?${new URLSearchParams({ provider, id, ...more })}`;
    administered.events.length = 0;
    return [page({}), page({ client: client.id })];
  }
  const left = async () =>
    (await portal.server.access.list({ clientId: client.id })).items.map(({ id }) => id);
  const ENDED = {
    type: 'family_revoked',
    by: { provider: 'accounts' },
  };

  // @shows AS-33.4
  test('ends one of several authorizations, which is audited', async () => {
    const [, page] = await allowedByGrace(2);
    const [last, first] = await left();
    const { action, fields } = await formDoing(await ada.get(page), 'revoke', first);
    const done = await ada.post(action, fields);
    expect(await textOf(await ada.get(locationOf(done).href))).toContain(
      'The access and its tokens are revoked',
    );
    expect(await left()).toEqual([last]);
    expect(administered.events).toMatchObject([{ ...ENDED, authorization: first }]);
  });

  // @shows AS-33.12
  test('ends all authorizations of one application with one form, only as it was shown', async () => {
    const [page] = await allowedByGrace(2);
    const { action, fields } = await formDoing(
      await ada.get(page),
      'revoke-group',
      `value="${client.id}"`,
    );
    for (const does of ['', 'revoke', 'revoke-all', 'erase'])
      expect((await ada.post(action, { ...fields, do: does })).status).toBe(400);
    expect(await left()).toHaveLength(2);
    administered.events.length = 0;
    const done = await ada.post(action, fields);
    expect(await textOf(await ada.get(locationOf(done).href))).toContain(
      'The access and its tokens are revoked',
    );
    expect(await left()).toEqual([]);
    expect(administered.events).toMatchObject([ENDED, ENDED]);
    expect(await textOf(await ada.get(`${page}&client=${client.id}`))).toContain(
      'No active access',
    );
  });
});

describe('a form that is sent with a different action than it was shown for', () => {
  // @shows AS-33.3
  test('registers no application', async () => {
    const { action, fields } = await formDoing(
      await ada.get(`${PAGES}/clients?ask=register`),
      'register',
    );
    const typed = { ...fields, name: 'A shop', redirect_uris: REDIRECT_URI };
    const refused = await ada.post(action, {
      ...typed,
      [fieldOf('notes:read')]: '1',
      do: 'update',
    });
    expect(refused.status).toBe(400);
    expect(administered.events).toMatchObject([{ type: 'admin_refused', reason: 'form' }]);
  });

  // @shows AS-33.3
  test('ends no access', async () => {
    for (const scope of ['openid', 'notes:read'])
      await obtainTokens(portal, client, ADA, { scope });
    administered.events.length = 0;
    const { action, fields } = await formDoing(
      await ada.get(`${PAGES}/access?client=${client.id}`),
      'revoke-group',
    );
    for (const does of ['', 'revoke', 'erase'])
      expect((await ada.post(action, { ...fields, do: does })).status).toBe(400);
    expect((await portal.server.access.list({ clientId: client.id })).items).toHaveLength(2);
    expect((await ada.post(action, fields)).status).toBe(303);
  });
});

describe('the page of the stored audit', () => {
  const shown = async (filter: Readonly<Record<string, string>>) =>
    ada.get(`${PAGES}/audit?${new URLSearchParams({ client: client.id, ...filter })}`);
  const rows = async (page: Response) => {
    const html = await page.clone().text();
    return Promise.all(
      html
        .split('<h2 class="head">')
        .slice(1)
        .map(async (row) => textOf(new Response(row.split('</li>')[0] ?? ''))),
    );
  };

  // @shows AS-33.11
  test('has only events of the application, person and days in its filter', async () => {
    const other = await registerClient(portal);
    for (const id of [client.id, other.id])
      await doAt(ada, pageOf(id, 'rotate-secret'), 'rotate-secret');
    const [rotated, ...more] = await rows(await shown({ type: 'secret_rotated' }));
    expect(more).toEqual([]);
    expect(rotated).toMatch(
      new RegExp(
        `^secret_rotated ${minute()} by Ada Lovelace .* · application ${client.id} ` +
          '· address \\S+ · request \\S+ · details {.*} $',
      ),
    );
    for (const person of [ADA, GRACE])
      await obtainTokens(portal, client, person, { scope: 'openid' });
    const { items } = await portal.server.audit.list({ clientId: client.id });
    const graces = items.find(({ type }) => type === 'consent_granted')?.person;
    const { provider = '', id = '' } = graces ?? {};
    const granted = await rows(await shown({ provider, person: id }));
    expect(granted.length).toBeGreaterThan(0);
    for (const row of granted) {
      expect(row).toMatch(/ person Grace Hopper .* authorization /);
      expect(row).not.toMatch(/Ada Lovelace|reason/);
    }
    const day = (days: number) => minute(days * 86_400).slice(0, 10);
    const count = async (filter: Readonly<Record<string, string>>) =>
      (await rows(await shown(filter))).length;
    expect(await count({ since: day(1) })).toBe(0);
    expect(await count({ until: day(0) })).toBe(0);
    expect(await count({ since: day(0), until: day(1) })).toBe(await count({}));
    for (const since of [`${day(0)}T00:00`, `x${day(0)}`, '2026-13-01'])
      expect((await shown({ since })).status).toBe(400);
  });

  test('has 50 events per page, each once, with the same filter on the next page', async () => {
    for (let count = 0; count < 60; count += 1)
      await portal.server.clients.update(client.id, { name: `Name ${count}` }, { by: 'console' });
    await portal.server.clients.rotateSecret(client.id);
    const first = await shown({ type: 'client_updated' });
    const [, next = ''] = /href="([^"]*after=[^"]*)"/.exec(await first.clone().text()) ?? [];
    const second = await ada.get(next.replaceAll('&amp;', '&'));
    const all = [...(await rows(first)), ...(await rows(second))];
    expect(await second.text()).not.toContain('after=');
    expect([(await rows(first)).length, all.length]).toEqual([50, 60]);
    for (const [index, row] of all.entries()) {
      expect(row).toContain(`by the console · application ${client.id}`);
      expect(row).toContain(`Name ${59 - index}`);
    }
  });
});

describe('repeated refusals on the administration pages', () => {
  const refusals = () => administered.events.filter(({ type }) => type === 'admin_refused');

  // The next event does not count requests of the previous test.
  beforeEach(async () => {
    await (await portal.signedIn(GRACE)).get(PAGES);
    clock.advance(61);
    administered.events.length = 0;
  });

  // @shows AS-33.8
  test('record one event per minute and reason with a count, and one log line each', async () => {
    const grace = await portal.signedIn(GRACE);
    const page = async () => {
      const answer = await grace.get(`${PAGES}/clients`);
      expect(answer.status).toBe(403);
      expect(await administered.linesOf(answer)).toHaveLength(1);
    };
    for (let count = 0; count < 20; count += 1) await page();
    expect(refusals()).toMatchObject([{ reason: 'permission', refusals: 1 }]);
    clock.advance(59);
    await page();
    expect(refusals()).toHaveLength(1);
    clock.advance(1);
    await page();
    expect(refusals()).toMatchObject([{ refusals: 1 }, { reason: 'permission', refusals: 21 }]);
    clock.advance(60);
    await page();
    expect(refusals()).toMatchObject([{ refusals: 1 }, { refusals: 21 }, { refusals: 1 }]);
    const { items } = await portal.server.audit.list({ type: 'admin_refused' }, { limit: 3 });
    expect(items.map(({ details }) => details['refusals'])).toEqual([1, 21, 1]);
  });

  // @shows AS-33.8
  test('record one event per minute, even if others are refused or the clock is set back', async () => {
    await portal.deny(ADA, PERMISSION);
    const grace = await portal.signedIn(GRACE);
    for (let count = 0; count < 3; count += 1)
      for (const visitor of [ada, grace]) await visitor.get(`${PAGES}/clients`);
    expect(refusals()).toHaveLength(2);
    clock.advance(-3600);
    await grace.get(`${PAGES}/clients`);
    expect(refusals().slice(2)).toMatchObject([{ refusals: 3 }]);
    clock.advance(3600);
    await portal.grant(ADA, PERMISSION);
  });

  // @shows AS-33.8
  test('do not hide refusals of other people or for other reasons', async () => {
    const grace = await portal.signedIn(GRACE);
    await grace.get(`${PAGES}/clients`);
    await grace.get(`${PAGES}/clients`);
    const { action, fields } = await formDoing(
      await ada.get(pageOf(client.id, 'revoke')),
      'revoke',
    );
    await ada.post(action, { ...fields, state: 'x' });
    await portal.deny(ADA, PERMISSION);
    await ada.get(`${PAGES}/clients`);
    await portal.grant(ADA, PERMISSION);
    expect(refusals().map((event) => 'reason' in event && event.reason)).toEqual([
      'permission',
      'form',
      'permission',
    ]);
  });
});

describe('the result of a form of an administrator', () => {
  /** The page that reports the result, where the browser is sent. */
  const done = async () =>
    locationOf(await doAt(ada, pageOf(client.id, 'update'), 'update', { name: 'Renamed' })).href;

  // @shows AS-33.9
  test('is shown after the redirect, but not to a person who only follows a link to it', async () => {
    const address = await done();
    expect(await textOf(await ada.get(address))).toContain('Done. The changes take effect');
    await portal.grant(GRACE, PERMISSION);
    const others = [await portal.signedIn(GRACE), await portal.signedIn(ADA)];
    for (const other of others) {
      const page = await other.get(address);
      expect(page.status).toBe(200);
      expect(await textOf(page)).not.toContain('Done.');
    }
    await portal.deny(GRACE, PERMISSION);
  });

  // @shows AS-33.9
  test('is shown on no other page, and for a limited time', async () => {
    const address = new URL(await done());
    const shown = async (change: (url: URL) => void) => {
      const url = new URL(address);
      change(url);
      return textOf(await ada.get(url.href));
    };
    const signed = address.searchParams.get('done') ?? '';
    const other = await registerClient(portal);
    for (const said of [
      await shown(({ searchParams }) => searchParams.set('done', 'updated')),
      await shown(({ searchParams }) =>
        searchParams.set('done', signed.replace('updated', 'revoked')),
      ),
      await shown(({ searchParams }) => searchParams.set('done', `${signed}x`)),
      await shown(({ searchParams }) => searchParams.set('id', other.id)),
    ]) {
      expect(said).not.toMatch(/Done\.|has ended/);
    }
    for (const [page, does] of [
      ['/person?provider=accounts&id=1', 'erase'],
      ['/keys', 'rotate-now'],
      ['/registration', 'revoked'],
    ] as const) {
      const link = new URL(`${PAGES}${page}`, portal.url);
      link.searchParams.set('done', does);
      expect(await textOf(await ada.get(link.href))).not.toContain('Done.');
    }
    clock.advance(600);
    expect(await shown(() => {})).not.toContain('Done.');
  });
});

describe('names that clients give themselves', () => {
  // @shows AS-33.6
  test.each([
    ['markup', '<script>alert(1)</script>&"\''],
    ['the longest name', 'x'.repeat(100)],
    ['Arabic', 'دفتر الملاحظات'],
  ])('are escaped as text: %s', async (_, name) => {
    const named = await registerClient(portal, { name });
    const list = `${PAGES}/clients?after=${named.id.slice(0, -1)}`;
    for (const path of [list, pageOf(named.id), pageOf(named.id, 'revoke')]) {
      const html = await (await ada.get(path)).text();
      expect(html).not.toContain('<script');
      expect(await textOf(await ada.get(path))).toContain(name);
      expect(html).toMatch(/<bdi>[^<]*<\/bdi>/);
    }
  });

  test.each([
    '%00',
    '%0d%0aSet-Cookie:a=b',
    "'%20OR%201=1--",
    '%f0%9f%92%a9'.repeat(50),
    '%E2%80%AE',
    '<script>',
  ])('an unknown id is not found: %s', async (id) => {
    for (const path of [
      `${PAGES}/client?id=${id}`,
      `${PAGES}/client?id=${id}&ask=revoke`,
      `${PAGES}/client?id=a&done=${id}`,
    ]) {
      const page = await ada.get(path);
      expect(page.status).toBe(404);
      expect(await page.text()).not.toMatch(/<script|<form/);
    }
  });
});

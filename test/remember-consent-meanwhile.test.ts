// @engines all: the store decides the order of two requests
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tokensOf } from './support/device.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  obtainCode,
  REDIRECT_URI,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { pushedNow } from './support/pushing.ts';
import { isRedirect, locationOf, type Visitor } from './support/visitor.ts';

/** Changes between two statements of a request. The request skips the question, or ends access. */

const READ = { scope: 'notes:read' };

let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
const events: AuditEvent[] = [];
/** The action that runs once, after the next statement that matches. */
let next: { readonly after: RegExp; readonly act: () => Promise<unknown> } | null = null;

beforeAll(async () => {
  portal = await startPortal({
    config: { oauth_server: { remember_consent: true, pushed_authorization_requests: 'accept' } },
  });
  portal.application.events.on(AUDIT, (event: AuditEvent) => void events.push(event));
  const { database } = portal.application;
  const execute = database.execute.bind(database);
  database.execute = async (sql, ...rest) => {
    const result = await execute<never>(sql, ...rest);
    const now = next?.after.test(sql) === true ? next : null;
    if (now !== null) next = null;
    await now?.act();
    return result;
  };
});
afterAll(() => portal.close());
beforeEach(async () => {
  client = await registerClient(portal, { metadata: { first_party: ['true'] } });
  ada = await portal.signedIn(ADA);
  events.length = 0;
});

const open = (changes = {}) => ada.get(authorizationUrl(portal, client, { ...READ, ...changes }));
const allow = async () =>
  tokensOf(await exchangeCode(portal, client, await obtainCode(portal, client, ada, READ)));
const again = async () =>
  tokensOf(
    await exchangeCode(portal, client, locationOf(await open()).searchParams.get('code') ?? ''),
  );
const livingIds = async () =>
  (await portal.server.access.list({ clientId: client.id })).items.map(({ id }) => id);

async function revokeByClient({ refresh_token: token }: Tokens): Promise<void> {
  const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
  const response = await fetch(`${portal.url}/oauth/revoke`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ token }),
  });
  expect(response.status).toBe(200);
}

describe('access that is ended while the client starts a second one and ends the first', () => {
  /**
   * After the next query that lists the active authorizations, starts another authorization and
   * ends the first.
   */
  const change = (after: RegExp, first: Tokens, done: (second: Tokens) => void) => {
    const act = async () => {
      const second = await again();
      await revokeByClient(first);
      done(second);
    };
    next = { after, act };
  };
  const LIST = /FROM oauth_families f\s+JOIN oauth_clients/;
  let second: Tokens | null;
  const keep = (tokens: Tokens) => void (second = tokens);
  beforeEach(() => {
    second = null;
  });

  const ENDS: Readonly<Record<string, (first: Tokens) => Promise<unknown>>> = {
    'the applications page': async (first) => {
      const page = await ada.visit('/oauth/applications');
      change(LIST, first, keep);
      await ada.submit(page);
    },
    'an administrator': async (first) => {
      await again();
      const [newest = ''] = await livingIds();
      change(LIST, first, keep);
      await portal.server.access.revokeAuthorization(newest);
    },
    revokePerson: async (first) => {
      const [item] = (await portal.server.access.list({ clientId: client.id })).items;
      change(/^SELECT f.id, f.revoked_at/, first, keep);
      await portal.server.access.revokePerson(item?.person ?? { provider: '', id: '' });
    },
    endAll: async () => {
      const act = async () => {
        const begun = await again();
        change(/^SELECT id, revoked_at, details/, begun, keep);
      };
      next = { after: /^SELECT id, revoked_at FROM oauth_families/, act };
      await portal.server.access.endAll();
    },
  };

  // @shows AS-52.6
  test.each(Object.keys(ENDS))('includes the second one if it is ended by %s', async (name) => {
    await ENDS[name]?.(await allow());
    expect(second).not.toBeNull();
    expect(await livingIds()).toEqual([]);
    expect((await refresh(portal, client, second?.refresh_token ?? '')).status).toBe(400);
  });
});

describe('access that is ended while the person repeatedly allows the client again', () => {
  /** The maximum number of times that the person allows the request during the work. */
  const MOST = 20;
  const LISTS: Readonly<Record<string, RegExp>> = {
    'the applications page': /FROM oauth_families f\s+JOIN oauth_clients/,
    'an administrator': /FROM oauth_families f\s+JOIN oauth_clients/,
    revokePerson: /^SELECT f.id, f.revoked_at/,
    endAll: /^SELECT id, revoked_at, details/,
  };
  const ENDS: Readonly<Record<string, () => Promise<unknown>>> = {
    'the applications page': async () => ada.submit(await ada.visit('/oauth/applications')),
    'an administrator': async () => {
      const [newest = ''] = await livingIds();
      await portal.server.access.revokeAuthorization(newest);
    },
    revokePerson: async () => {
      const [item] = (await portal.server.access.list({ clientId: client.id })).items;
      await portal.server.access.revokePerson(item?.person ?? { provider: '', id: '' });
    },
    endAll: async () => portal.server.access.endAll(),
  };

  // @shows AS-52.6
  test.each(Object.keys(ENDS))('is ended once by %s, and the new access stays', async (name) => {
    await allow();
    await again();
    const before = await livingIds();
    let allowed = 0;
    const act = async () => {
      if (allowed === MOST) return;
      allowed += 1;
      const code = await obtainCode(portal, client, ada, { ...READ, prompt: 'consent' });
      await exchangeCode(portal, client, code);
      await again();
      next = { after: LISTS[name] ?? /^$/, act };
    };
    next = { after: LISTS[name] ?? /^$/, act };
    await ENDS[name]?.();
    next = null;
    expect(allowed).toBeLessThan(5);
    const after = await livingIds();
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    expect(after.length).toBeGreaterThanOrEqual(2);
  });
});

/** Returns the result of the response: the consent page, a code, or an error for the client. */
async function outcomeOf(response: Response): Promise<string> {
  if (!isRedirect(response))
    return (await response.text()).includes('value="allow"') ? 'page' : `${response.status}`;
  const { searchParams } = locationOf(response);
  return searchParams.has('code') ? 'code' : (searchParams.get('error') ?? '');
}

describe('a request whose remembered consent becomes invalid before the code is issued', () => {
  const SAVED = /^INSERT INTO oauth_consent_requests/;
  const update = (changes: Parameters<typeof portal.server.clients.update>[1]) =>
    portal.server.clients.update(client.id, changes);
  const CHANGES: Readonly<Record<string, () => Promise<unknown>>> = {
    'the mark was removed': () => update({ metadata: { first_party: [] } }),
    'a loopback redirect URI was added': () =>
      update({ addRedirectUris: ['http://localhost:7777/cb'] }),
    'the access would now continue': () => update({ addGrants: ['refresh_token'] }),
  };

  // @shows AS-52.6
  test.each(Object.keys(CHANGES))('leads to the consent page, because %s', async (name) => {
    if (name === 'the access would now continue') await update({ removeGrants: ['refresh_token'] });
    await allow();
    const before = await livingIds();
    next = { after: SAVED, act: () => CHANGES[name]?.() ?? Promise.resolve() };
    expect(await outcomeOf(await open())).toBe('page');
    expect(await livingIds()).toEqual(before);
  });

  // @shows AS-52.6
  test('leads to the consent page, because the access has ended', async () => {
    const tokens = await allow();
    next = { after: SAVED, act: () => revokeByClient(tokens) };
    expect(await outcomeOf(await open())).toBe('page');
  });

  // @shows AS-52.6
  test.each<[string, () => Promise<unknown>]>([
    ['the client was revoked', () => portal.server.clients.revoke(client.id)],
    [
      'its redirect URI was removed',
      () =>
        update({ addRedirectUris: ['https://new.example/cb'], removeRedirectUris: [REDIRECT_URI] }),
    ],
  ])('fails without a code, because %s at the last moment', async (_, act) => {
    await allow();
    const late = async () => void (next = { after: /oauth_subjects/, act });
    next = { after: SAVED, act: late };
    expect(await outcomeOf(await open())).toBe('400');
  });

  // @shows AS-52.6
  test('gets no code with prompt=none', async () => {
    await allow();
    next = { after: SAVED, act: () => update({ metadata: { first_party: [] } }) };
    expect(await outcomeOf(await open({ prompt: 'none' }))).toBe('interaction_required');
  });

  // @shows AS-52.5
  test('shows no page for a pushed prompt=none that the browser loads twice', async () => {
    await allow();
    const url = await pushedNow(portal, client, { ...READ, prompt: 'none' });
    let other = '';
    const act = async () => void (other = await outcomeOf(await ada.get(url)));
    next = { after: SAVED, act };
    expect(await outcomeOf(await ada.get(url))).toBe('code');
    expect(other).toBe('interaction_required');
  });

  // @shows AS-52.7
  test('is not reported as denied by the person if a permission was withdrawn', async () => {
    await allow();
    next = { after: SAVED, act: () => portal.deny(ADA, 'notes:read') };
    try {
      expect(await outcomeOf(await open())).toBe('access_denied');
      expect(events.filter(({ type }) => type === 'consent_denied')).toEqual([]);
    } finally {
      await portal.grant(ADA, 'notes:read');
    }
  });
});

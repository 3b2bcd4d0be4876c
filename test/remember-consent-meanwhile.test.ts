// @engines all: the store decides what comes first
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tokensOf } from './support/device.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  obtainCode,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** What happens between two statements of a request that leaves out the question, or ends access. */

const READ = { scope: 'notes:read' };

let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
const events: AuditEvent[] = [];
/** What runs once, after the next statement that matches. */
let next: { readonly after: RegExp; readonly act: () => Promise<unknown> } | null = null;

beforeAll(async () => {
  portal = await startPortal({ config: { oauth_server: { remember_consent: true } } });
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

describe('access that is ended while the client begins another and ends the first itself', () => {
  /** After the next list of the living: begins another, and ends the first. */
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
  test.each(Object.keys(ENDS))('is ended by %s as well', async (name) => {
    await ENDS[name]?.(await allow());
    expect(second).not.toBeNull();
    expect(await livingIds()).toEqual([]);
    expect((await refresh(portal, client, second?.refresh_token ?? '')).status).toBe(400);
  });
});

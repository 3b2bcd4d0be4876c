// @engines sqlite: what comes between is done by the host's database; what the store makes of it is in test/store-contract.test.ts
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  type Database,
  type Host,
} from 'portico/oauth-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { CHALLENGE, createClock, REDIRECT_URI } from './support/portal.ts';
import { formOf } from './support/visitor.ts';

/** The same request in two tabs of a browser, one of which is quicker: between what the other has read and what it reads next. */

interface Browser {
  person: string | null;
  readonly jar: Map<string, string>;
}

const ADA = 'ada';
/** What reads a request that waits in the store, or was pushed. */
const READS_WAITING = 'SELECT parameters FROM oauth_waiting_requests';

const clock = createClock();
let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
let server: ReturnType<typeof start>;
let clientId: string;
/** Done once, before the server reads a request that waits. */
let meanwhile: (() => Promise<unknown>) | null = null;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-twice-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  server = start();
  clientId = await server.newClient();
});
afterAll(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  meanwhile = null;
});

function start() {
  const publicUrl = 'https://host.example';
  const host: Host<Browser> = {
    signedIn: async (_, { person }) => (person === null ? null : { provider: 'staff', id: person }),
    loadAccount: async (reference) => ({
      reference,
      isActive: () => true,
      getProfile: () => ({ name: reference.id }),
    }),
    holdsPermission: async () => true,
    loginUrl: '/sign-in',
    log: { debug: () => {}, info: () => {}, warning: () => {}, error: () => {} },
  };
  const watched: Database = {
    ...database,
    async execute(sql, parameters) {
      if (sql.startsWith(READS_WAITING)) {
        const now = meanwhile;
        meanwhile = null;
        await now?.();
      }
      return database.execute(sql, parameters);
    },
  };
  const config = oauthServerConfiguration.parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, 'keys'),
    pushed_authorization_requests: 'accept',
  });
  const { now } = clock;
  const made = createAuthorizationServer({ publicUrl, config, host, database: watched, clock: now });
  const handle = createHandler<Browser>(made);

  async function send(browser: Browser, at: string, form?: Readonly<Record<string, string>>) {
    const cookie = [...browser.jar].map((pair) => pair.join('=')).join('; ');
    const request = new Request(publicUrl + at, {
      headers: { Accept: 'text/html', Cookie: cookie },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    const response = (await handle(request, browser)) ?? Response.error();
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/.test(set)) browser.jar.delete(name);
      else browser.jar.set(name, value);
    }
    return response;
  }

  async function newClient(): Promise<string> {
    const about = { name: 'App', redirectUris: [REDIRECT_URI], scopes: ['notes:read'], public: true };
    const { client } = await made.clients.create(about);
    return client.id;
  }
  return { send, newClient };
}

const parameters = (changes: Readonly<Record<string, string>> = {}) => ({
  client_id: clientId,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  ...changes,
});
const at = (query: Readonly<Record<string, string>>) => `/oauth/authorize?${new URLSearchParams(query)}`;
const browserOf = (person: string | null): Browser => ({ person, jar: new Map() });

/** Where the browser is sent with a request that its client has pushed. */
async function pushed(): Promise<string> {
  const response = await server.send(browserOf(null), '/oauth/par', parameters());
  const { request_uri: uri = '' } = (await response.json()) as { readonly request_uri?: string };
  return at({ client_id: clientId, request_uri: uri });
}

/** The way back from the sign-in page, as the browser is sent there with this request. */
async function wayBack(browser: Browser, query: string): Promise<string> {
  const away = await server.send(browser, query);
  const login = new URL(away.headers.get('location') ?? '', 'https://host.example');
  expect(login.pathname).toBe('/sign-in');
  return login.searchParams.get('return_to') ?? '';
}

async function questionOf(response: Response): Promise<Readonly<Record<string, string>>> {
  expect(response.status).toBe(200);
  return formOf(await response.text()).fields;
}

const codeOf = async (browser: Browser, question: Readonly<Record<string, string>>) => {
  const answered = await server.send(browser, '/oauth/authorize', { ...question, decision: 'allow' });
  return new URL(answered.headers.get('location') ?? 'x:').searchParams.get('code');
};

describe('of two tabs with one request the slower one', () => {
  test('shows the question that the quicker one put, of a pushed request', async () => {
    const url = await pushed();
    const browser = browserOf(ADA);
    // So that both tabs have one cookie.
    await server.send(browser, at(parameters()));
    let quicker: Response | null = null;
    meanwhile = async () => (quicker = await server.send(browser, url));
    const slower = await questionOf(await server.send(browser, url));
    expect(quicker).not.toBeNull();
    expect(slower['request_id']).toBe((await questionOf(quicker ?? Response.error()))['request_id']);
    expect(await codeOf(browser, slower)).not.toBeNull();
  });

  test('shows the question that the quicker one put, of a request that waited in the store', async () => {
    const browser = browserOf(null);
    const back = await wayBack(browser, at(parameters({ state: 's'.repeat(6000) })));
    browser.person = ADA;
    await server.send(browser, at(parameters()));
    const cookies = new Map(browser.jar);
    let quicker: Response | null = null;
    meanwhile = async () => (quicker = await server.send({ person: ADA, jar: cookies }, back));
    const slower = await questionOf(await server.send(browser, back));
    expect(quicker).not.toBeNull();
    expect(slower['request_id']).toBe((await questionOf(quicker ?? Response.error()))['request_id']);
    expect(await codeOf(browser, slower)).not.toBeNull();
  });

  test('of a pushed request that somebody else was put meanwhile shows nothing', async () => {
    const url = await pushed();
    meanwhile = () => server.send(browserOf('grace'), url);
    const refused = await server.send(browserOf(ADA), url);
    expect(refused.status).toBe(400);
    expect((await refused.text()).includes('This request can no longer be answered')).toBe(true);
  });
});

test('a pushed request that waits is led back to by its link, when what was pushed has gone', async () => {
  const url = await pushed();
  const browser = browserOf(null);
  const back = await wayBack(browser, url);
  clock.advance(61);
  const led = await server.send(browser, url);
  expect([led.status, led.headers.get('location')]).toEqual([303, back]);
  // In a browser where it does not wait, it is as gone as it is.
  expect((await server.send(browserOf(null), url)).status).toBe(400);
  browser.person = ADA;
  expect(await codeOf(browser, await questionOf(await server.send(browser, back)))).not.toBeNull();
});

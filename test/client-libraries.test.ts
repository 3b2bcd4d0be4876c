// @engines sqlite, needs npm python java maven: clients see no difference between engines
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  LIBRARIES,
  type ForeignClient,
  type Identity,
  type Library,
  type Method,
} from './support/client-libraries.ts';
import {
  ADA,
  introspect,
  REDIRECT_URI,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';
import { startClient } from './support/mcp/bare-client.ts';
import { authlibClient, once, springClient } from './support/mcp/toolchains.ts';
import { SCALE } from './support/scale.ts';
import { formOf, locationOf, type Visitor } from './support/visitor.ts';

/**
 * Third-party clients, with each way to authenticate, to prove possession, and to send a request.
 */

const SCOPE = 'openid profile notes:read';
const METHODS: readonly Method[] = [
  'private_key_jwt',
  'client_secret_basic',
  'client_secret_post',
  'none',
];

const EVERYTHING = {
  private_key_jwt: true,
  dpop: 'accept',
  pushed_authorization_requests: 'accept',
};

/** How a server is configured. */
const SERVERS = {
  'that takes everything': EVERYTHING,
  'that also wants its nonces': { ...EVERYTHING, dpop_nonces: true },
  'that requires everything': {
    ...EVERYTHING,
    dpop: 'require',
    pushed_authorization_requests: 'require',
    dpop_nonces: true,
  },
  'of the profile FAPI 2.0': { private_key_jwt: true, profile: 'fapi2' },
  'that posts answers': { ...EVERYTHING, form_post: true, unknown_scopes: 'ignore' },
} as const;
type ServerName = keyof typeof SERVERS;

interface Case {
  readonly library: Library;
  readonly method: Method;
  readonly dpop: boolean;
  readonly par: boolean;
}

const BOTH = [false, true] as const;
const ALL: readonly Case[] = LIBRARIES.flatMap((library) =>
  METHODS.flatMap((method) =>
    BOTH.flatMap((dpop) => BOTH.map((par) => ({ library, method, dpop, par }))),
  ),
);
const CASES = {
  'that takes everything': ALL,
  'that also wants its nonces': ALL.filter(({ dpop }) => dpop),
  'that requires everything': ALL.filter(({ dpop, par }) => dpop && par),
  'of the profile FAPI 2.0': ALL.filter(
    ({ method, dpop, par }) => method === 'private_key_jwt' && dpop && par,
  ),
} as const satisfies Readonly<Partial<Record<ServerName, readonly Case[]>>>;

const portals = new Map<ServerName, RunningPortal>();
/** A browser in which Ada is signed in, at each server. */
const browsers = new Map<ServerName, Visitor>();
beforeAll(async () => {
  for (const [name, oauth_server] of Object.entries(SERVERS)) {
    const portal = await startPortal({ config: { oauth_server } });
    portals.set(name as ServerName, portal);
    browsers.set(name as ServerName, await portal.signedIn(ADA));
  }
});
afterAll(async () => {
  for (const portal of portals.values()) await portal.close();
});

async function registered(portal: RunningPortal, method: Method, dpop: boolean): Promise<Identity> {
  const { privateKey, publicKey } = await oauth.generateKeyPair('ES256', { extractable: true });
  const kid = randomUUID();
  const jwk = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid };
  const { client, secret } = await portal.server.clients.create({
    name: 'A client of a library',
    redirectUris: [REDIRECT_URI],
    scopes: SCOPE.split(' '),
    ...(method === 'none'
      ? { public: true }
      : { grants: ['authorization_code', 'refresh_token', 'introspection'] }),
    ...(method === 'private_key_jwt' ? { jwks: { keys: [jwk] } } : {}),
  });
  const possesses = dpop ? await oauth.generateKeyPair('ES256') : null;
  return { id: client.id, secret: secret ?? '', method, key: privateKey, kid, possesses };
}

/** What names the key to which a token is bound (RFC 9449 section 6.2). */
async function confirmation({ possesses }: Identity): Promise<object> {
  if (possesses === null) return {};
  return { cnf: { jkt: await calculateJwkThumbprint(await exportJWK(possesses.publicKey)) } };
}

describe.each(Object.keys(CASES) as (keyof typeof CASES)[])('a server %s', (server) => {
  // @shows AS-23.2, AS-23.5, AS-24.2, AS-24.8, AS-25.2, RFC7523-2.2, RFC9449-5a, RFC9449-6.2, RFC9449-8, RFC9126-2.2
  test.each(CASES[server])(
    '$library.name, $method, DPoP: $dpop, PAR: $par: signs in, refreshes, calls, introspects, revokes',
    async ({ library, method, dpop, par }) => {
      const portal = portals.get(server) as RunningPortal;
      const browser = browsers.get(server) as Visitor;
      const identity = await registered(portal, method, dpop);
      const client: ForeignClient = await library.discover(portal.server.issuer, identity);

      const consent = await browser.visit((await client.authorize(SCOPE, par)).href);
      const { sub, ...first } = await client.redeem(
        locationOf(await browser.submit(consent, { decision: 'allow' })),
      );
      const refreshed = await client.refresh(first.refresh_token ?? '');
      for (const { access_token: token, token_type } of [first, refreshed]) {
        expect(token_type.toLowerCase()).toBe(dpop ? 'dpop' : 'bearer');
        expect(await client.userInfo(token, sub)).toMatchObject({ sub, name: 'Ada Lovelace' });
        const api = new URL('/api/notes', portal.url);
        expect(await (await client.fetch(token, api)).json()).toEqual({ data: [] });
        const asBearer = await fetch(api, { headers: { Authorization: `Bearer ${token}` } });
        expect(asBearer.status).toBe(dpop ? 401 : 200);
      }

      const introspected = async (token: string) =>
        method === 'none' ? introspect(portal, token) : client.introspect(token);
      expect(await introspected(refreshed.access_token)).toMatchObject({
        active: true,
        client_id: identity.id,
        token_type: dpop ? 'DPoP' : 'Bearer',
        ...(await confirmation(identity)),
      });
      await client.revoke(refreshed.refresh_token ?? first.refresh_token ?? '');
      expect(await introspected(refreshed.access_token)).toEqual({ active: false });
    },
  );
});

/** More scopes than the server has, because some products request a fixed list. */
const WIDER = `${SCOPE} groups address phone`;

/** Ada allows the request. Returns the form that her browser then posts to the client. */
async function postedAt(url: string): Promise<{ action: string; body: URLSearchParams }> {
  const browser = browsers.get('that posts answers') as Visitor;
  const page = await browser.submit(await browser.visit(url), { decision: 'allow' });
  const { action, fields } = formOf(await page.text());
  return { action, body: new URLSearchParams(fields) };
}

describe('a server that uses form_post and ignores unknown scopes', () => {
  // @shows AS-2.30, AS-7.20
  test.each(LIBRARIES.flatMap((library) => BOTH.map((par) => ({ library, par }))))(
    '$library.name, PAR: $par: reads the form post and gets the remaining scopes',
    async ({ library, par }) => {
      const portal = portals.get('that posts answers') as RunningPortal;
      const identity = await registered(portal, 'client_secret_basic', false);
      const client = await library.discover(portal.server.issuer, identity);
      const { action, body } = await postedAt(
        (await client.authorize(WIDER, par, 'form_post')).href,
      );
      expect(action).toBe(REDIRECT_URI);
      const received = await client.redeem(new Request(action, { method: 'POST', body }));
      expect(received.scope?.split(' ').toSorted()).toEqual(SCOPE.split(' ').toSorted());
      expect(await client.userInfo(received.access_token, received.sub)).toMatchObject({
        name: 'Ada Lovelace',
      });
    },
  );
});

const PROGRAMS = [
  {
    name: 'Authlib',
    command: once(authlibClient),
    methods: METHODS,
    also: { revoked: 200, after: 401 },
  },
  {
    name: 'Spring Security',
    command: once(springClient),
    methods: METHODS.slice(0, 2),
    also: { same: true },
  },
].slice(0, SCALE.clientPrograms);

describe.runIf(PROGRAMS.length > 0).each(PROGRAMS)('$name', ({ command, methods, also, name }) => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'portico-programs-'));
    await command();
  });
  afterAll(() => rm(home, { recursive: true }));

  /** Starts the program as a client of this server. */
  async function started(server: ServerName, method: Method, given: object) {
    const portal = portals.get(server) as RunningPortal;
    const { id, secret, key, kid } = await registered(portal, method, false);
    const client = await startClient({ name, command }, [], home);
    const told = {
      issuer: portal.server.issuer,
      client_id: id,
      secret,
      method,
      key: { ...(await crypto.subtle.exportKey('jwk', key)), alg: 'ES256', kid },
      scope: SCOPE,
      redirect_uri: REDIRECT_URI,
      pushes: true,
      ...given,
    };
    client.tell(JSON.stringify(told));
    return client;
  }

  // @shows AS-23.2, AS-23.3
  test.each(methods)('%s: signs in, refreshes, calls the API', async (method) => {
    const browser = browsers.get('that takes everything') as Visitor;
    const client = await started('that takes everything', method, {});
    try {
      const { authorize } = await client.next();
      const consent = await browser.visit(authorize ?? '');
      client.tell(
        JSON.stringify(locationOf(await browser.submit(consent, { decision: 'allow' })).href),
      );
      expect(await client.next()).toMatchObject({ refreshed: true, name: 'Ada Lovelace', ...also });
    } finally {
      await client.close();
    }
  });

  test('signs in by form_post, with scopes of which the server knows some', async () => {
    const client = await started('that posts answers', 'client_secret_basic', {
      scope: WIDER,
      pushes: false,
    });
    try {
      const { authorize } = await client.next();
      const { action, body } = await postedAt(`${authorize}&response_mode=form_post`);
      client.tell(JSON.stringify(`${action}?${body.toString()}`));
      expect(await client.next()).toMatchObject({ refreshed: true, name: 'Ada Lovelace', ...also });
    } finally {
      await client.close();
    }
  });
});

// @engines sqlite: paths, documents and names of cookies are the same on every engine
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import express from 'express';
import fc from 'fast-check';
import createFastify from 'fastify';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { examineAssistant } from 'portico/assistant';
import { portico as expressPortico } from 'portico/express';
import { portico as fastifyPortico } from 'portico/fastify';
import { ConfigurationError, startApplication, type ConfigMap } from 'portico/host';
import { mcp } from 'portico/mcp';
import {
  createAuthorizationServer,
  examine,
  oauthServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type Check,
} from 'portico/oauth-server';
import { createResourceServer } from 'portico/resource-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import catalog from '../examples/catalog/app.ts';
import { findChromium, launchChromium } from './support/chromium.ts';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { MOUNTS, type RunningMount } from './support/mounts.ts';
import {
  ADA,
  CHALLENGE,
  PASSWORD,
  REDIRECT_URI,
  signIn as signInToPortal,
  startPortal,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import { startProxy, startServer, type BasePathRule, type RunningProxy } from './support/reverse-proxy.ts';
import { createVisitor, formOf, locationOf, type Visitor } from './support/visitor.ts';

/** A running application whose endpoints are below a base path. */
interface Installation {
  readonly server: AuthorizationServer;
  /** Where it listens itself, behind the proxy. */
  readonly port: number;
  /** Fills in its sign-in page. */
  signIn(visitor: Visitor, page: Response): Promise<Response>;
  close(): Promise<void>;
}

interface Stack {
  readonly name: string;
  /** A scope that the person holds. */
  readonly scope: string;
  /** Whether the sign-in page is the kit's, which is below the base path, too. */
  readonly kit: boolean;
  /** Whether the framework itself turns a path like /x/../y into /y before routing. */
  readonly normalises: boolean;
  start(config: ConfigMap): Promise<Installation>;
}

const KIT: Stack = {
  name: 'the kit',
  scope: 'notes:read',
  kit: true,
  normalises: false,
  async start(config) {
    const portal = await startPortal({ config });
    return {
      server: portal.server,
      port: Number(portal.env['PORT']),
      signIn: (visitor, page) => signInToPortal(visitor, page, ADA),
      close: () => portal.close(),
    };
  },
};

/** The kit, Express and bare Node in the short form; the others, too, in the long one. */
const FIRST = ['portico/express', 'portico/node'];
const STACKS: readonly Stack[] = [
  KIT,
  ...MOUNTS.toSorted((one, other) => FIRST.indexOf(other.name) - FIRST.indexOf(one.name)).map(
    (contender) => ({
      name: contender.name,
      scope: 'orders:read',
      kit: false,
      normalises: contender.normalises,
      async start(config: ConfigMap) {
        const { public_url: publicUrl, base_path: basePath } = config;
        const audience = `${String(publicUrl)}${String(basePath)}/mcp`;
        const mount = await contender.start({ ...config, oauth_server: { audience } });
        return {
          server: mount.server,
          port: Number(new URL(mount.url).port),
          signIn: (visitor: Visitor, page: Response) =>
            visitor.submit(page, { email: ADA, password: PASSWORD }),
          close: () => mount.close(),
        };
      },
    }),
  ),
].slice(0, SCALE.basePathStacks);

const INSECURE = { [oauth.allowInsecureRequests]: true };

/** A client of an installation, in the terms of both libraries. */
interface Registered {
  readonly id: string;
  readonly secret: string;
}

async function register(
  server: AuthorizationServer,
  scopes: readonly string[],
  redirectUri = REDIRECT_URI,
): Promise<Registered> {
  const { client, secret } = await server.clients.create({
    name: 'Shop assistant',
    redirectUris: [redirectUri],
    scopes: ['openid', 'profile', ...scopes],
    grants: ['authorization_code', 'refresh_token', 'introspection'],
  });
  return { id: client.id, secret: secret ?? '' };
}

/** As openid-client finds it: the well-known part appended to the issuer (OpenID Connect Discovery 1.0 section 4). */
function discover(
  { issuer }: AuthorizationServer,
  { id, secret }: Registered,
): Promise<openid.Configuration> {
  return openid.discovery(new URL(issuer), id, undefined, openid.ClientSecretBasic(secret), {
    execute: [openid.allowInsecureRequests],
  });
}

interface Asked {
  readonly callback: URL;
  readonly checks: openid.AuthorizationCodeGrantChecks;
}

/** Who is asked, by whom. */
interface Here {
  readonly installation: Installation;
  readonly config: openid.Configuration;
  readonly scope: string;
}

/** Signs in where nobody is, and allows what is asked for; `consent` is the page that asked. */
async function authorize(
  {
    installation,
    config,
    scope,
  }: { installation: Installation; config: openid.Configuration; scope: string },
  visitor: Visitor,
): Promise<Asked & { readonly consent: string }> {
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: `openid profile ${scope}`,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  });
  let page = await visitor.visit(url.href);
  if (new URL(page.url).pathname.endsWith('/login')) {
    page = await visitor.visit(locationOf(await installation.signIn(visitor, page)).href);
  }
  const consent = await page.clone().text();
  const callback = locationOf(await visitor.submit(page, { decision: 'allow' }));
  return {
    consent,
    callback,
    checks: { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true },
  };
}

/** Sends a path as it is written, which `fetch` does not. */
function sendRaw(port: number, path: string, form: string): Promise<{ status: number; body: string }> {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Host: `localhost:${port}` };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (answer) => {
      let body = '';
      answer.on('data', (chunk: Buffer) => (body += chunk.toString()));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    sent.end(form);
  });
}

const BASE = '/auth';

describe.each(STACKS)('$name', (stack) => {
  describe.each([
    { proxy: 'that leaves the base path in', strips: false },
    { proxy: 'that takes the base path away', strips: true },
  ])('behind a proxy $proxy', ({ strips }) => {
    const { scope } = stack;
    let proxy: RunningProxy;
    let installation: Installation;
    let issuer: string;
    let client: Registered;
    let config: openid.Configuration;

    beforeAll(async () => {
      proxy = await startProxy();
      issuer = `${proxy.url}${BASE}`;
      installation = await stack.start({
        public_url: proxy.url,
        base_path: BASE,
        base_path_stripped: strips,
      });
      const { port } = installation;
      proxy.leadBelow({ basePath: BASE, strips, port });
      // The application's own sign-in page is not below the base path; of the kit everything is.
      if (!stack.kit) proxy.leadTo(port);
      client = await register(installation.server, [scope]);
      config = await discover(installation.server, client);
    });
    afterAll(async () => {
      await installation.close();
      await proxy.close();
    });

    const here = () => ({ installation, config, scope });

    // @shows AS-2.17, AS-2.18, AS-6.20, DISCOVERY-4, DISCOVERY-4.3
    test('openid-client finds it below the issuer; sign-in, consent, ID token, UserInfo, refresh, revocation', async () => {
      const metadata = config.serverMetadata();
      expect(metadata.issuer).toBe(issuer);
      const places = Object.entries(metadata).filter(([name]) => /_endpoint$|_uri$/.test(name));
      expect(places.length).toBeGreaterThan(5);
      for (const [name, place] of places) {
        expect([name, place]).toEqual([name, expect.stringContaining(`${issuer}/`)]);
      }
      const visitor = createVisitor(proxy.url);
      const { callback, checks } = await authorize(here(), visitor);
      expect(callback.searchParams.get('iss')).toBe(issuer);
      const tokens = await openid.authorizationCodeGrant(config, callback, checks);
      expect(tokens.claims()).toMatchObject({ iss: issuer, aud: client.id });
      const subject = tokens.claims()?.sub ?? '';
      expect(await openid.fetchUserInfo(config, tokens.access_token, subject)).toMatchObject({
        name: 'Ada Lovelace',
      });
      const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
      expect(refreshed.claims()?.iss).toBe(issuer);
      expect(await openid.tokenIntrospection(config, refreshed.access_token)).toMatchObject({
        active: true,
        iss: issuer,
        sub: subject,
      });
      await openid.tokenRevocation(config, refreshed.refresh_token ?? '');
      expect(await openid.tokenIntrospection(config, refreshed.access_token)).toEqual({ active: false });
      // Signed in now: consent is shown at once, where its form is answered.
      const again = await authorize(here(), visitor);
      expect(formOf(again.consent).action).toBe(`${BASE}/oauth/authorize`);
    });

    // @shows AS-6.20, RFC8414-3.3
    test('oauth4webapi finds it in front of the issuer (RFC 8414), and takes its answers for this issuer alone', async () => {
      const url = new URL(issuer);
      const found = await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...INSECURE });
      expect(new URL(found.url).pathname).toBe(`/.well-known/oauth-authorization-server${BASE}`);
      const as = await oauth.processDiscoveryResponse(url, found);
      const own: oauth.Client = { client_id: client.id };
      const { callback, checks } = await authorize(here(), createVisitor(proxy.url));
      const parameters = oauth.validateAuthResponse(as, own, callback, String(checks.expectedState));
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        own,
        oauth.ClientSecretBasic(client.secret),
        parameters,
        REDIRECT_URI,
        checks.pkceCodeVerifier ?? '',
        INSECURE,
      );
      const result = await oauth.processAuthorizationCodeResponse(as, own, response, {
        expectedNonce: String(checks.expectedNonce),
        requireIdToken: true,
      });
      expect(oauth.getValidatedIdTokenClaims(result)?.iss).toBe(issuer);
      const foreign = { ...as, issuer: proxy.url };
      expect(() => oauth.validateAuthResponse(foreign, own, callback, String(checks.expectedState))).toThrow(
        'iss',
      );
    });

    // @shows AS-6.20
    test('discovery is the same document at both places, the key set below it, and neither is at the origin', async () => {
      for (const name of ['openid-configuration', 'oauth-authorization-server']) {
        const [below, inFront] = await Promise.all(
          [`${BASE}/.well-known/${name}`, `/.well-known/${name}${BASE}`].map(async (path) => {
            const response = await fetch(`${proxy.url}${path}`);
            expect([path, response.status]).toEqual([path, 200]);
            expect(response.headers.get('access-control-allow-origin')).toBe('*');
            return response.text();
          }),
        );
        expect(below).toBe(inFront);
        expect(JSON.parse(below ?? '')).toMatchObject({
          issuer,
          jwks_uri: `${issuer}/.well-known/jwks.json`,
        });
      }
      expect((await fetch(`${issuer}/.well-known/jwks.json`)).status).toBe(200);
      const wellKnown = installation.server.endpoints
        .map(({ path }) => path)
        .filter((path) => path.includes('known'));
      expect(wellKnown).not.toContain('/.well-known/openid-configuration/');
      expect(wellKnown.every((path) => strips || path.includes(BASE))).toBe(true);
    });

    // @shows AS-2.18, AS-6.21
    test('a request that waits is a cookie of the path that the browser asks for, and of no other', async () => {
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: REDIRECT_URI,
        scope,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      });
      const answer = await createVisitor(proxy.url).get(url.href);
      const [waiting = ''] = answer.headers
        .getSetCookie()
        .filter((cookie) => cookie.startsWith('portico_request_'));
      expect(waiting).toContain(`; Path=${BASE}/oauth/authorize; HttpOnly; SameSite=Lax;`);
      const login = locationOf(answer);
      expect(login.pathname).toBe(stack.kit ? `${BASE}/login` : '/login');
      expect(login.searchParams.get('return_to')).toMatch(/^\/auth\/oauth\/authorize\?request_id=/);
    });

    // @shows AS-2.18
    test("a person's page of applications: its forms and links stay below the base path", async () => {
      const visitor = createVisitor(proxy.url);
      await authorize(here(), visitor);
      const page = await visitor.visit(`${issuer}/oauth/applications`);
      const html = await page.clone().text();
      expect(html).toContain('Shop assistant');
      expect(formOf(html).action).toBe(`${BASE}/oauth/applications`);
      expect(html).toContain(`<a href="${strips ? `${BASE}/` : '/'}">`);
      const removed = await visitor.submit(page);
      expect(locationOf(removed).href).toBe(`${issuer}/oauth/applications?removed=1`);
      expect(await (await visitor.visit(locationOf(removed).href)).text()).not.toContain('Shop assistant');
      const stranger = await createVisitor(proxy.url).get(`${issuer}/oauth/applications`);
      expect(locationOf(stranger).searchParams.get('return_to')).toBe(`${BASE}/oauth/applications`);
    });

    // @shows AS-2.17
    test('an API elsewhere introspects below the issuer', async () => {
      const { callback, checks } = await authorize(here(), createVisitor(proxy.url));
      const tokens = await openid.authorizationCodeGrant(config, callback, checks);
      const { config: configured } = installation.server;
      const resource = (of: string) =>
        createResourceServer({
          issuer: of,
          clientId: client.id,
          clientSecret: client.secret,
          audience: configured.audience === '' ? null : configured.audience,
          allowInsecureRequests: true,
        });
      for (const of of [issuer, `${issuer}/`]) {
        const asked = await resource(of).authorize(`Bearer ${tokens.access_token}`, scope);
        expect(asked).toMatchObject({ clientId: client.id });
      }
    });

    // @shows AS-2.18, AS-6.18
    test('only the path as it arrives is an endpoint: no other case, encoding, slash or segment', async () => {
      const mounted = strips ? '' : BASE;
      const isTokenEndpoint = async (path: string) => {
        const { body } = await sendRaw(installation.port, path, 'grant_type=authorization_code&code=x');
        return body.includes('"invalid_client"');
      };
      expect(await isTokenEndpoint(`${mounted}/oauth/token`)).toBe(true);
      const others = [
        strips ? `${BASE}/oauth/token` : '/oauth/token',
        `/${mounted}/oauth/token`,
        `${mounted}//oauth/token`,
        `${mounted}/oauth//token`,
        `${mounted}/oauth/token/`,
        `${mounted}/oauth%2Ftoken`,
        `${mounted}/oauth/TOKEN`,
        `${BASE}${BASE}/oauth/token`,
        `${BASE}ority/oauth/token`,
        '/AUTH/oauth/token',
        '/Auth/oauth/token',
        '/auth%2Foauth/token',
        '/auth%2foauth%2ftoken',
        '/auth;x/oauth/token',
        '/auth.json/oauth/token',
        `/.well-known${BASE}/oauth/token`,
        ...(stack.normalises
          ? []
          : [
              `${BASE}/../oauth/token`,
              `${BASE}/../auth/oauth/token`,
              '/x/../auth/oauth/token',
              `${mounted}/./oauth/token`,
              `${mounted}/x/../oauth/token`,
              `${mounted}/%2e%2e${BASE}/oauth/token`,
              '/%61uth/oauth/token',
              `${mounted}\\oauth/token`,
            ]),
      ];
      for (const path of others) expect([path, await isTokenEndpoint(path)]).toEqual([path, false]);
    });
  });
});

// @shows HOST-2.4
test("the kit's own routes, when a proxy takes the base path away: links have it, and signing out leads to the first page", async () => {
  const proxy = await startProxy();
  const config = { public_url: proxy.url, base_path: BASE, base_path_stripped: true };
  const portal = await startPortal({ config });
  proxy.leadBelow({ basePath: BASE, strips: true, port: Number(portal.env['PORT']) });
  try {
    expect(portal.application.path('home')).toBe(`${BASE}/`);
    const visitor = createVisitor(proxy.url);
    const login = await visitor.visit(`${proxy.url}${BASE}/login?return_to=https://evil.example/`);
    const signedIn = await signInToPortal(visitor, login, ADA);
    expect(locationOf(signedIn).href).toBe(`${proxy.url}${BASE}/`);
    const home = await visitor.visit(locationOf(signedIn).href);
    const html = await home.clone().text();
    expect(html).toContain('Signed in as <strong>Ada Lovelace');
    expect(html).toContain(`href="${BASE}/oauth/applications"`);
    expect(locationOf(await visitor.submit(home)).href).toBe(`${proxy.url}${BASE}/`);
  } finally {
    await portal.close();
    await proxy.close();
  }
});

const PIECES = [
  '/',
  '//',
  '/./',
  '/../',
  '\\\\',
  '%2F',
  '%2f',
  '%2e',
  ';',
  '?',
  '#',
  'auth',
  'AUTH',
  '%61uth',
  'oauth',
  'token',
  'x',
];

// @shows AS-2.18, AS-6.18
test.each([false, true])(
  'whatever else a path is made of, it is no endpoint (base_path_stripped: %j)',
  async (stripped) => {
    const config = { public_url: 'https://portal.example', base_path: BASE, base_path_stripped: stripped };
    const portal = await startPortal({ mode: 'prod', config });
    const endpoint = stripped ? '/oauth/token' : `${BASE}/oauth/token`;
    const near = fc
      .array(fc.constantFrom(...PIECES), { maxLength: 8 })
      .map((pieces) => `/${pieces.join('')}`);
    const around = fc
      .tuple(fc.nat(endpoint.length), fc.nat(3), fc.constantFrom('', ...PIECES))
      .map(([at, without, put]) => endpoint.slice(0, at) + put + endpoint.slice(at + without));
    const odd = fc
      .oneof(near, around)
      .filter((target) => target.startsWith('/') && target.split('?', 1)[0] !== endpoint);
    const ask = async (target: string) => {
      const url = `https://portal.example${target}`;
      const form = new Request(url, { method: 'POST', body: new URLSearchParams({ grant_type: 'x' }) });
      return (await portal.application.fetch(form, { address: null, target })).text();
    };
    try {
      expect(await ask(endpoint)).toContain('"invalid_client"');
      expect(await ask(`${endpoint}?a=b`)).toContain('"invalid_client"');
      await fc.assert(
        fc.asyncProperty(odd, async (target) => {
          expect(await ask(target)).not.toContain('"invalid_client"');
        }),
        { numRuns: SCALE.oddPaths },
      );
    } finally {
      await portal.close();
    }
  },
);

// --- two installations on one origin --------------------------------------------------------------------------

describe('two installations on one origin, below /a and /b', () => {
  /** The kit with tools; of the second the proxy takes the base path away. */
  interface Tenant extends Here {
    readonly assistant: RunningAssistant;
    readonly client: Registered;
  }
  let proxy: RunningProxy;
  let a: Tenant;
  let b: Tenant;

  async function startTenant(basePath: string, strips: boolean): Promise<Tenant> {
    const resource = `${proxy.url}${basePath}/mcp`;
    const assistant = await startAssistant({
      config: {
        public_url: proxy.url,
        base_path: basePath,
        base_path_stripped: strips,
        oauth_server: { audience: resource },
        mcp: { resource, allowed_origins: ['https://inspector.example'] },
      },
    });
    const port = Number(assistant.application.env['PORT']);
    proxy.leadBelow({ basePath, strips, port });
    const { server } = assistant;
    const client = await register(server, ['mcp:tools']);
    const installation: Installation = {
      server,
      port,
      signIn: (visitor, page) => signInToPortal(visitor, page, ADA),
      close: () => assistant.close(),
    };
    const config = await discover(server, client);
    return { assistant, installation, client, config, scope: 'mcp:tools' };
  }

  beforeAll(async () => {
    proxy = await startProxy();
    a = await startTenant('/a', false);
    b = await startTenant('/b', true);
  });
  afterAll(async () => {
    await a.installation.close();
    await b.installation.close();
    await proxy.close();
  });

  const tokensOf = async (tenant: Tenant, visitor = createVisitor(proxy.url)) => {
    const { callback, checks } = await authorize(tenant, visitor);
    return openid.authorizationCodeGrant(tenant.config, callback, checks);
  };

  const call = ({ assistant }: Tenant, token: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${assistant.server.issuer}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${token}`,
        ...headers,
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });

  // @shows AS-6.21
  test('a code of one is none at the other, and stays good where it was issued', async () => {
    const { callback, checks } = await authorize(a, createVisitor(proxy.url));
    const stolen = new URL(callback);
    stolen.searchParams.set('iss', b.assistant.server.issuer);
    await expect(openid.authorizationCodeGrant(b.config, stolen, checks)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const tokens = await openid.authorizationCodeGrant(a.config, callback, checks);
    expect(tokens.claims()?.iss).toBe(a.assistant.server.issuer);
  });

  // @shows AS-6.21, AS-7.4
  test('an answer of one is refused by a client of the other: its iss is another', async () => {
    const { callback, checks } = await authorize(a, createVisitor(proxy.url));
    await expect(openid.authorizationCodeGrant(b.config, callback, checks)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('"iss"') as string },
    });
  });

  // @shows AS-6.21
  test('an access token, a refresh token and an ID token of one are nothing to the other', async () => {
    const tokens = await tokensOf(a);
    expect((await call(a, tokens.access_token)).status).toBe(200);
    expect((await call(b, tokens.access_token)).status).toBe(401);
    expect(await openid.tokenIntrospection(b.config, tokens.access_token)).toEqual({ active: false });
    const subject = tokens.claims()?.sub ?? '';
    await expect(openid.fetchUserInfo(b.config, tokens.access_token, subject)).rejects.toMatchObject({
      status: 401,
    });
    await expect(openid.refreshTokenGrant(b.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await openid.tokenRevocation(b.config, tokens.refresh_token ?? '');
    expect((await call(b, tokens.id_token ?? '')).status).toBe(401);
    const { jwks_uri: keySet = '' } = b.config.serverMetadata();
    const verified = jwtVerify(tokens.id_token ?? '', createRemoteJWKSet(new URL(keySet)));
    await expect(verified).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    const refreshed = await openid.refreshTokenGrant(a.config, tokens.refresh_token ?? '');
    expect((await call(a, refreshed.access_token)).status).toBe(200);
  });

  // @shows AS-6.21, AS-7.8
  test('a resource of one is no target at the other', async () => {
    const target = await createVisitor(proxy.url).get(
      openid.buildAuthorizationUrl(a.config, {
        redirect_uri: REDIRECT_URI,
        scope: 'mcp:tools',
        resource: b.assistant.server.config.audience,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      }).href,
    );
    expect(locationOf(target).searchParams.get('error')).toBe('invalid_target');
    expect(locationOf(target).searchParams.get('iss')).toBe(a.assistant.server.issuer);
  });

  // @shows AS-6.21, HOST-2.4
  test('who signs in at one is signed in there alone, and signing in, or out, at the other ends nothing', async () => {
    const visitor = createVisitor(proxy.url);
    await tokensOf(a, visitor);
    const login = await visitor.visit(`${proxy.url}/b/oauth/applications`);
    expect(new URL(login.url).pathname).toBe('/b/login');
    await signInToPortal(visitor, login, ADA);
    for (const path of ['/a', '/b']) {
      const page = await visitor.visit(`${proxy.url}${path}/oauth/applications`);
      expect(page.url).toBe(`${proxy.url}${path}/oauth/applications`);
    }
    expect(visitor.cookies()).toContain('portico_session%2Fa=');
    expect(visitor.cookies()).toContain('portico_session%2Fb=');
    const out = await visitor.post(`${proxy.url}/b/logout`, {});
    expect(out.status).toBe(403);
    const session = /portico_session%2Fb=([^;]+)/.exec(visitor.cookies())?.[1] ?? '';
    // The session of one under the name that the other reads: it is looked up in the other's store.
    const thief = createVisitor(proxy.url);
    thief.accept(`portico_session%2Fa=${session}; Path=/`);
    const refused = await thief.get(`${proxy.url}/a/oauth/applications`);
    expect(locationOf(refused).pathname).toBe('/a/login');
  });

  // @shows AS-6.21
  test('a question of one cannot be answered at the other, signed in at both', async () => {
    const visitor = createVisitor(proxy.url);
    await tokensOf(a, visitor);
    await tokensOf(b, visitor);
    const url = openid.buildAuthorizationUrl(a.config, {
      redirect_uri: REDIRECT_URI,
      scope: 'mcp:tools',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    });
    const page = await visitor.visit(url.href);
    const { fields } = formOf(await page.clone().text());
    const elsewhere = await visitor.post(`${proxy.url}/b/oauth/authorize`, { ...fields, decision: 'allow' });
    expect(elsewhere.status).toBe(400);
    const asked = await visitor.get(
      `${proxy.url}/b/oauth/authorize?request_id=${fields['request_id'] ?? ''}`,
    );
    expect(asked.status).toBe(400);
    const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
    expect(answer.searchParams.has('code')).toBe(true);
  });

  // @shows AS-6.21
  test('a request that waits at one is unknown to the other, also when its cookie is planted there', async () => {
    const visitor = createVisitor(proxy.url);
    await tokensOf(b, visitor);
    const url = openid.buildAuthorizationUrl(a.config, {
      redirect_uri: REDIRECT_URI,
      scope: 'mcp:tools',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    });
    const answer = await createVisitor(proxy.url).get(url.href);
    const [cookie = ''] = answer.headers.getSetCookie();
    const [, id = ''] = /^portico_request_([^=]+)=/.exec(cookie) ?? [];
    visitor.accept(cookie.replace('Path=/a/', 'Path=/b/'));
    expect(visitor.cookies()).toContain(`portico_request_${id}=`);
    const planted = await visitor.get(`${proxy.url}/b/oauth/authorize?request_id=${id}`);
    expect(planted.status).toBe(400);
  });

  // @shows MCP-7.10
  test('the MCP resource is below each, and its metadata in front: pages of the origin are no strangers', async () => {
    for (const { assistant, config } of [a, b]) {
      const { basePath, issuer } = assistant.server;
      const resource = `${issuer}/mcp`;
      for (const path of [`${basePath}/mcp`, basePath]) {
        const found = await fetch(`${proxy.url}/.well-known/oauth-protected-resource${path}`);
        expect(await found.json()).toMatchObject({ resource, authorization_servers: [issuer] });
      }
      const strict = await oauth.resourceDiscoveryRequest(new URL(resource), INSECURE);
      expect((await oauth.processResourceDiscoveryResponse(new URL(resource), strict)).resource).toBe(
        resource,
      );
      const { access_token: token } = await openid.clientCredentialsGrant(
        await discover(assistant.server, assistant.service),
        { scope: 'mcp:service', resource },
      );
      expect(config.serverMetadata().issuer).toBe(issuer);
      const tenant = assistant === a.assistant ? a : b;
      expect((await call(tenant, token, { Origin: proxy.url })).status).toBe(200);
      expect((await call(tenant, token, { Origin: 'https://inspector.example' })).status).toBe(200);
      for (const origin of [issuer, 'https://evil.example', `${proxy.url}0`, 'null']) {
        expect([origin, (await call(tenant, token, { Origin: origin })).status]).toEqual([origin, 403]);
      }
    }
    expect((await fetch(`${proxy.url}/.well-known/oauth-protected-resource`)).status).toBe(502);
  });

  // @shows MCP-9.3, MCP-7.10
  test('both doctors find all in order', async () => {
    for (const { assistant } of [a, b]) {
      const { application, server } = assistant;
      const report = await examine(application, server, { online: true });
      expect(report.checks.filter(({ outcome }) => outcome === 'failing' || outcome === 'warning')).toEqual(
        [],
      );
      expect(report.checks.find(({ part }) => part === 'configuration')?.detail).toBe(
        `public_url and base_path make ${server.issuer} the issuer`,
      );
      const tools = await examineAssistant(application, { serverOnly: true });
      expect(tools.checks.filter(({ part }) => part === 'discovery' || part === 'authentication')).toEqual(
        expect.arrayContaining([expect.objectContaining({ outcome: 'ok' })]),
      );
      expect(tools.checks.filter(({ outcome }) => outcome === 'failing').map(({ part }) => part)).toEqual([]);
    }
  });
});

// --- with none ------------------------------------------------------------------------------------------------

/** As recorded before there were base paths. */
const METADATA_OF_BEFORE =
  '{"issuer":"https://portal.example","authorization_endpoint":"https://portal.example/oauth/authorize",' +
  '"token_endpoint":"https://portal.example/oauth/token","revocation_endpoint":"https://portal.example/oauth/revoke",' +
  '"introspection_endpoint":"https://portal.example/oauth/introspect","jwks_uri":"https://portal.example/.well-known/jwks.json",' +
  '"scopes_supported":["openid","profile","email","notes:read","notes:write"],"response_types_supported":["code"],' +
  '"response_modes_supported":["query"],"grant_types_supported":["authorization_code","refresh_token","client_credentials"],' +
  '"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],' +
  '"revocation_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],' +
  '"introspection_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"],' +
  '"code_challenge_methods_supported":["S256"],"authorization_response_iss_parameter_supported":true}';
const ENDPOINTS_OF_BEFORE = [
  'oauth_server_authorize GET /oauth/authorize',
  'oauth_server_consent POST /oauth/authorize',
  'oauth_server_token POST OPTIONS /oauth/token',
  'oauth_server_revoke POST OPTIONS /oauth/revoke',
  'oauth_server_introspect POST /oauth/introspect',
  'oauth_server_userinfo GET POST OPTIONS /oauth/userinfo',
  'oauth_server_applications GET /oauth/applications',
  'oauth_server_remove_application POST /oauth/applications',
  'oauth_server_openid_configuration GET OPTIONS /.well-known/openid-configuration',
  'oauth_server_metadata GET OPTIONS /.well-known/oauth-authorization-server',
  'oauth_server_jwks GET OPTIONS /.well-known/jwks.json',
];

// @shows AS-2.17
test('without a base path endpoints, metadata, redirects and cookies are what they were', async () => {
  const portal = await startPortal({ mode: 'prod', config: { public_url: 'https://portal.example' } });
  try {
    const { application, server } = portal;
    const ask = (path: string, init: RequestInit = {}) =>
      application.fetch(new Request(`https://portal.example${path}`, init));
    expect(server.endpoints.map(({ name, methods, path }) => [name, ...methods, path].join(' '))).toEqual(
      ENDPOINTS_OF_BEFORE,
    );
    expect(await (await ask('/.well-known/oauth-authorization-server')).text()).toBe(METADATA_OF_BEFORE);
    for (const path of [
      '/.well-known/openid-configuration/',
      '/.well-known/oauth-authorization-server/auth',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    }
    const client = await register(server, ['notes:read']);
    const query = new URLSearchParams({
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    });
    const asked = await ask(`/oauth/authorize?${query}`);
    const location = asked.headers.get('location') ?? '';
    expect(location).toMatch(/^\/login\?return_to=%2Foauth%2Fauthorize%3Frequest_id%3D[\w-]{43}$/);
    expect(asked.headers.getSetCookie().map((cookie) => cookie.replace(/_[\w-]{43}=[^;]+/, '_…=…'))).toEqual([
      '__Secure-portico_request_…=…; Path=/oauth/authorize; HttpOnly; SameSite=Lax; Secure; Max-Age=600',
    ]);
    const login = await ask('/login');
    expect(login.headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]+/, '=…'))).toEqual([
      '__Host-portico_csrf=…; Path=/; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect(formOf(await login.text()).action).toBe('/login');
    const signedIn = await ask('/login', {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ identifier: ADA, password: PASSWORD }),
    });
    expect(signedIn.headers.get('location')).toBe('/');
    expect(signedIn.headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]+/, '=…'))).toEqual([
      '__Host-portico_session=…; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=1209600',
      '__Host-portico_known=…; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=15552000',
    ]);
  } finally {
    await portal.close();
  }
});

// --- configuration --------------------------------------------------------------------------------------------

describe('configured wrongly', () => {
  const problemsOf = async (config: ConfigMap): Promise<readonly string[]> => {
    const failed = startApplication({ ...catalog, config: { public_url: 'https://app.example', ...config } });
    const error: unknown = await failed.then(
      (application) => application.close(),
      (thrown: unknown) => thrown,
    );
    return error instanceof ConfigurationError
      ? error.problems.map(({ key, message }) => `${key}: ${message}`)
      : [];
  };

  // @shows AS-2.16, AS-2.17, AS-2.18
  test('the application does not start, and every problem is named by its key', async () => {
    expect(await problemsOf({ base_path: 'auth/', base_path_stripped: 'yes', body_limit: 0 })).toEqual([
      'base_path: must begin with /',
      'base_path: must not end with /; leave it out for the whole origin',
      'base_path_stripped: must be true or false',
      'body_limit: must be at least 1024 bytes',
    ]);
    expect(await problemsOf({ base_path: 7 })).toEqual(['base_path: must be a path such as /auth, or empty']);
    expect(await problemsOf({ base_path_stripped: true })).toEqual([
      'base_path_stripped: is true while base_path is empty; set base_path to what the proxy takes away',
    ]);
    expect(await problemsOf({ public_url: 'https://app.example/auth' })).toEqual([
      expect.stringMatching(/^public_url: must be an origin alone, here https:\/\/app\.example;/),
    ]);
  });

  // @shows AS-2.17, AS-2.18
  test('createAuthorizationServer throws, naming the same keys', () => {
    const make = (options: Pick<AuthorizationServerOptions, 'basePath' | 'basePathStripped'>) => () =>
      createAuthorizationServer({ publicUrl: 'https://app.example', host: {}, ...options } as never);
    expect(make({ basePath: '/auth/../oauth' })).toThrow('base_path: must not have a segment . or ..');
    expect(make({ basePathStripped: true })).toThrow('base_path_stripped: is true while base_path is empty');
  });

  // @shows MCP-3.10, MCP-7.10
  test('an MCP resource without the base path is a problem, and the message has the right one', async () => {
    const resource = 'https://app.example/mcp';
    const server = { name: 'Tools', audience: resource, scopes: { 'mcp:tools': 'Use your tools' } };
    const config = { base_path: '/auth', oauth_server: server, mcp: { resource } };
    const plugins = [oauthServer(), mcp()];
    await expect(
      startApplication({ ...catalog, plugins, config: { public_url: 'https://app.example', ...config } }),
    ).rejects.toThrow(
      'mcp:resource: must be public_url plus base_path plus /mcp, https://app.example/auth/mcp',
    );
  });
});

describe('mounted below a path of the framework', () => {
  let installation: RunningMount;
  const publicUrl = 'http://localhost';
  beforeAll(async () => {
    const [express] = MOUNTS;
    const oauthServerOf = { audience: `${publicUrl}${BASE}/mcp` };
    installation = await (express as (typeof MOUNTS)[number]).start({
      public_url: publicUrl,
      base_path: BASE,
      oauth_server: oauthServerOf,
    });
  });
  afterAll(() => installation.close());

  // @shows AS-2.17
  test("Express's app.use('/auth', …) serves what is below, by the path that was sent", async () => {
    const app = express();
    app.use(BASE, expressPortico(installation.server));
    const listening = app.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
    const status = async (path: string) => (await fetch(`${url}${path}`)).status;
    expect(await status(`${BASE}/.well-known/openid-configuration`)).toBe(200);
    expect(await status('/.well-known/openid-configuration')).toBe(404);
    expect(await status(`${BASE}${BASE}/.well-known/openid-configuration`)).toBe(404);
    listening.close();
    await once(listening, 'close');
  });

  test("Fastify's prefix is refused, saying what to do", async () => {
    const fastify = createFastify();
    const registered = fastify.register(fastifyPortico(installation.server), { prefix: BASE });
    await expect(registered).rejects.toThrow(/prefix \/auth.*register it without one, and set base_path/);
    await fastify.close();
  });
});

// --- the doctor -----------------------------------------------------------------------------------------------

describe('oauth:server:doctor --online', () => {
  const examined = async (
    config: ConfigMap,
    rule: (port: number) => BasePathRule | null,
  ): Promise<ReadonlyMap<string, Check>> => {
    const proxy = await startProxy();
    const portal = await startPortal({ config: { public_url: proxy.url, base_path: BASE, ...config } });
    try {
      const port = Number(portal.env['PORT']);
      const below = rule(port);
      if (below === null) proxy.leadTo(port);
      else proxy.leadBelow(below);
      const { checks } = await examine(portal.application, portal.server, { online: true });
      return new Map(checks.map((each) => [each.part, each]));
    } finally {
      await portal.close();
      await proxy.close();
    }
  };

  // @shows AS-13.15, AS-2.18
  test('of a proxy that takes the base path away says what to set', async () => {
    const found = await examined({}, (port) => ({ basePath: BASE, strips: true, port }));
    expect(found.get('endpoints')?.outcome).toBe('ok');
    expect(found.get('public address')).toMatchObject({
      outcome: 'failing',
      remedy: expect.stringContaining('set base_path_stripped to true') as string,
    });
  });

  // @shows AS-13.15, AS-2.18
  test('of one that does not, too', async () => {
    const found = await examined({ base_path_stripped: true }, (port) => ({
      basePath: BASE,
      strips: false,
      port,
    }));
    expect(found.get('public address')).toMatchObject({
      outcome: 'failing',
      remedy: expect.stringContaining('take base_path_stripped out') as string,
    });
  });

  // @shows AS-13.15, AS-6.20
  test('warns when what is in front of the base path does not lead here', async () => {
    const found = await examined({ base_path_stripped: true }, (port) => ({
      basePath: BASE,
      strips: true,
      port,
      withoutDocuments: true,
    }));
    expect(found.get('public address')?.outcome).toBe('ok');
    expect(found.get('round trip')?.outcome).toBe('ok');
    expect(found.get('in front of base_path')).toMatchObject({
      outcome: 'warning',
      remedy: 'let the proxy lead /.well-known/*/auth to the application as it is',
    });
  });
});

// @shows AS-13.15, AS-2.17
test("the doctor names a host's own consent view that sends its form past the base path", async () => {
  const views = await mkdtemp(path.join(tmpdir(), 'portico-views-'));
  await mkdir(path.join(views, 'oauth'));
  const form = '<form action="/oauth/authorize"><%= it.requestId %><%= it.csrfToken %> decision</form>';
  await writeFile(path.join(views, 'oauth', 'consent.eta'), form);
  const found = async (config: ConfigMap) => {
    const portal = await startPortal({ views, config });
    try {
      const { checks } = await examine(portal.application, portal.server);
      return checks.find(({ part }) => part === 'views');
    } finally {
      await portal.close();
    }
  };
  try {
    expect(await found({ base_path: BASE })).toMatchObject({
      outcome: 'failing',
      detail: 'the form of oauth/consent is sent to /oauth/authorize, which is not /auth/oauth/authorize',
    });
    expect(await found({})).toMatchObject({ outcome: 'ok' });
  } finally {
    await rm(views, { recursive: true });
  }
});

// --- in a browser ---------------------------------------------------------------------------------------------

const executable = findChromium();
describe.runIf(executable !== null)('in a real Chromium', () => {
  // @shows AS-2.18, AS-6.21, HOST-2.4
  test('one person, two installations of one origin, both tabs at once', async () => {
    const answers: (string | null)[] = [];
    const relyingParty = await startServer((incoming, outgoing) => {
      const asked = new URL(incoming.url ?? '', 'http://localhost');
      if (asked.pathname === '/callback') answers.push(asked.searchParams.get('iss'));
      outgoing.end('Back at the client');
    });
    const callback = `${relyingParty.url}/callback`;
    const proxy = await startProxy();
    const origin = proxy.url.replace('127.0.0.1', 'localhost');
    const portals = await Promise.all(
      [
        ['/a', false],
        ['/b', true],
      ].map(async ([basePath, strips]) => {
        const config = { public_url: origin, base_path: basePath, base_path_stripped: strips };
        const portal = await startPortal({ config });
        const port = Number(portal.env['PORT']);
        proxy.leadBelow({ basePath: String(basePath), strips: strips === true, port });
        return { portal, client: await register(portal.server, ['notes:read'], callback) };
      }),
    );
    const browser = await launchChromium(executable ?? '');
    const context = await browser.newContext({ javaScriptEnabled: false });
    try {
      const tabs = [];
      for (const { portal, client } of portals) {
        const query = new URLSearchParams({
          client_id: client.id,
          redirect_uri: callback,
          response_type: 'code',
          scope: 'openid notes:read',
          code_challenge: CHALLENGE,
          code_challenge_method: 'S256',
        });
        const page = await context.newPage();
        await page.goto(`${portal.server.issuer}/oauth/authorize?${query}`);
        expect(new URL(page.url()).pathname).toBe(`${portal.server.basePath}/login`);
        tabs.push({ page, portal });
      }
      const waiting = (await context.cookies()).filter(({ name }) => name.startsWith('portico_request_'));
      expect(waiting.map(({ path }) => path)).toEqual(['/a/oauth/authorize', '/b/oauth/authorize']);
      for (const { page } of tabs) {
        await page.getByLabel('Email address').fill(ADA);
        await page.getByLabel('Password').fill(PASSWORD);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'Allow' }).waitFor();
      }
      // Each still has its own session, so each takes its own answer.
      for (const { page } of tabs) {
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByText('Back at the client').waitFor();
      }
      expect(answers).toEqual([`${origin}/a`, `${origin}/b`]);
      const [first] = tabs;
      await first?.page.goto(`${origin}/a/oauth/applications`);
      await first?.page.getByRole('button', { name: 'Remove' }).click();
      await first?.page.getByText('Back to Portal').waitFor();
      expect(first?.page.url()).toBe(`${origin}/a/oauth/applications?removed=1`);
      const names = (await context.cookies()).map(({ name, path }) => `${name} ${path}`);
      expect(names).toEqual(expect.arrayContaining(['portico_session%2Fa /', 'portico_session%2Fb /']));
      expect(names.filter((name) => name.startsWith('portico_request_'))).toEqual([]);
    } finally {
      await browser.close();
      for (const { portal } of portals) await portal.close();
      await proxy.close();
      await relyingParty.close();
    }
  });
});

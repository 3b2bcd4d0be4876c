// @engines sqlite: paths, documents and cookie names are the same on every engine
import { request } from 'node:http';
import fc from 'fast-check';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import type { ConfigMap } from 'portico';
import { createResourceServer } from '@portico/resource-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authorize,
  discover,
  INSECURE,
  register,
  type Installation,
  type Registered,
} from './support/installation.ts';
import { MOUNTS } from './support/mounts.ts';
import {
  ADA,
  CHALLENGE,
  PASSWORD,
  REDIRECT_URI,
  signIn as signInToPortal,
  startPortal,
} from './support/portal.ts';
import { startProxy, type RunningProxy } from './support/reverse-proxy.ts';
import { SCALE } from './support/scale.ts';
import { createVisitor, formOf, locationOf, type Visitor } from './support/visitor.ts';

interface Stack {
  readonly name: string;
  /** A scope that the person holds. */
  readonly scope: string;
  /** Whether the sign-in page is the kit's, which is below the base path too. */
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

/** The kit, Express and bare Node in the short form; all others in the long one. */
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

/** Sends a path unchanged, which `fetch` does not. */
function sendRaw(
  port: number,
  path: string,
  form: string,
): Promise<{ status: number; body: string }> {
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    Host: `localhost:${port}`,
  };
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
      // The application's own sign-in page is not below the base path; with the kit everything is.
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
    test('openid-client discovers it below the issuer, and completes the whole flow', async () => {
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
      expect(await openid.tokenIntrospection(config, refreshed.access_token)).toEqual({
        active: false,
      });
      // The person is signed in now. The server shows the consent screen immediately, at the URL to
      // which its form is sent.
      const again = await authorize(here(), visitor);
      expect(formOf(again.consent).action).toBe(`${BASE}/oauth/authorize`);
    });

    // @shows AS-6.20, RFC8414-3.3
    test('oauth4webapi discovers it by RFC 8414, and accepts responses only from this issuer', async () => {
      const url = new URL(issuer);
      const found = await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...INSECURE });
      expect(new URL(found.url).pathname).toBe(`/.well-known/oauth-authorization-server${BASE}`);
      const as = await oauth.processDiscoveryResponse(url, found);
      const own: oauth.Client = { client_id: client.id };
      const { callback, checks } = await authorize(here(), createVisitor(proxy.url));
      const parameters = oauth.validateAuthResponse(
        as,
        own,
        callback,
        String(checks.expectedState),
      );
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
      expect(() =>
        oauth.validateAuthResponse(foreign, own, callback, String(checks.expectedState)),
      ).toThrow('iss');
    });

    // @shows AS-6.20
    test('discovery has the same document at both paths, and the origin without a path has none', async () => {
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
    test('the cookie of a waiting request is sent only to its own path', async () => {
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
    test('the page of applications keeps its forms and links below the base path', async () => {
      const visitor = createVisitor(proxy.url);
      await authorize(here(), visitor);
      const page = await visitor.visit(`${issuer}/oauth/applications`);
      const html = await page.clone().text();
      expect(html).toContain('Shop assistant');
      expect(formOf(html).action).toBe(`${BASE}/oauth/applications`);
      expect(html).toContain(`<a href="${strips ? `${BASE}/` : '/'}">`);
      const removed = await visitor.submit(page);
      expect(locationOf(removed).href).toBe(`${issuer}/oauth/applications?removed=1`);
      expect(await (await visitor.visit(locationOf(removed).href)).text()).not.toContain(
        'Shop assistant',
      );
      const stranger = await createVisitor(proxy.url).get(`${issuer}/oauth/applications`);
      expect(locationOf(stranger).searchParams.get('return_to')).toBe(`${BASE}/oauth/applications`);
    });

    // @shows AS-2.17
    test('an API on a different host introspects below the issuer', async () => {
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
    test('an endpoint matches only the exact path, not a different case, encoding or segment', async () => {
      const mounted = strips ? '' : BASE;
      const isTokenEndpoint = async (path: string) => {
        const { body } = await sendRaw(
          installation.port,
          path,
          'grant_type=authorization_code&code=x',
        );
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
test('if a proxy strips the base path, links contain it, and sign-out leads to the home page', async () => {
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
  'a path in any other form is not an endpoint (base_path_stripped: %j)',
  async (stripped) => {
    const config = {
      public_url: 'https://portal.example',
      base_path: BASE,
      base_path_stripped: stripped,
    };
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
      const form = new Request(url, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'x' }),
      });
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

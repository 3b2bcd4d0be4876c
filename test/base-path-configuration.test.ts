// @engines sqlite: the database makes no difference
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import express from 'express';
import createFastify, { type FastifyInstance } from 'fastify';
import { portico as expressPortico } from 'portico/express';
import { portico as fastifyPortico } from 'portico/fastify';
import { startApplication } from '@portico/kit';
import {
  ConfigurationError,
  type ConfigMap,
  createAuthorizationServer,
  examine,
  oauthServer,
  type AuthorizationServerOptions,
  type Check,
} from 'portico';
import { mcp } from '@portico/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import catalog from '../examples/catalog/app.ts';
import { register } from './support/installation.ts';
import { MOUNTS, type RunningMount } from './support/mounts.ts';
import { ADA, PASSWORD, startPortal, codeRequest } from './support/portal.ts';
import { startProxy, type BasePathRule } from './support/reverse-proxy.ts';
import { formOf } from './support/visitor.ts';
import { waysOf } from './support/scale.ts';

const BASE = '/auth';

// --- with none
// ------------------------------------------------------------------------------------------------

/** The metadata as it was before base paths existed. */
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
test('without a base path, endpoints, metadata, redirects and cookies are unchanged', async () => {
  const portal = await startPortal({
    mode: 'prod',
    config: { public_url: 'https://portal.example' },
  });
  try {
    const { application, server } = portal;
    const ask = (path: string, init: RequestInit = {}) =>
      application.fetch(new Request(`https://portal.example${path}`, init));
    const endpoints = server.endpoints.map(({ name, methods, path }) =>
      [name, ...methods, path].join(' '),
    );
    expect(endpoints.toSorted()).toEqual(ENDPOINTS_OF_BEFORE.toSorted());
    expect(await (await ask('/.well-known/oauth-authorization-server')).text()).toBe(
      METADATA_OF_BEFORE,
    );
    for (const path of [
      '/.well-known/openid-configuration/',
      '/.well-known/oauth-authorization-server/auth',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    }
    const client = await register(server, ['notes:read']);
    const query = codeRequest(client.id);
    const asked = await ask(`/oauth/authorize?${query}`);
    const location = asked.headers.get('location') ?? '';
    expect(location).toMatch(/^\/login\?return_to=%2Foauth%2Fauthorize%3Frequest_id%3D[\w-]{43}$/);
    const shape = (cookie: string) => cookie.replace(/(?:_[\w-]{43})?=[^;]+/, '…');
    expect(asked.headers.getSetCookie().map(shape)).toEqual([
      '__Secure-portico_request…; Path=/oauth/authorize; HttpOnly; SameSite=Lax; Secure; Max-Age=600',
      // For the sign-in page, which names the waiting application.
      '__Secure-portico_sign_in…; Path=/login; HttpOnly; SameSite=Lax; Secure; Max-Age=600',
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
    expect(signedIn.headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]+/, '=…'))).toEqual(
      [
        '__Host-portico_session=…; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=1209600',
        '__Host-portico_known=…; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=15552000',
      ],
    );
  } finally {
    await portal.close();
  }
});

// --- configuration
// --------------------------------------------------------------------------------------------

describe('an invalid base path', () => {
  const problemsOf = async (config: ConfigMap): Promise<readonly string[]> => {
    const failed = startApplication({
      ...catalog,
      config: { public_url: 'https://app.example', ...config },
    });
    const error: unknown = await failed.then(
      (application) => application.close(),
      (thrown: unknown) => thrown,
    );
    return error instanceof ConfigurationError
      ? error.problems.map(({ key, message }) => `${key}: ${message}`)
      : [];
  };

  // @shows AS-2.16, AS-2.17, AS-2.18
  test('stops the application at the start, and every problem is reported with its key', async () => {
    expect(
      await problemsOf({ base_path: 'auth/', base_path_stripped: 'yes', body_limit: 0 }),
    ).toEqual([
      'base_path: must begin with /',
      'base_path: must not end with /; remove the slash at the end',
      'base_path_stripped: must be true or false',
      'body_limit: must be at least 1024 bytes',
    ]);
    expect(await problemsOf({ base_path: 7 })).toEqual([
      'base_path: must be a path such as /auth, or empty',
    ]);
    expect(await problemsOf({ base_path_stripped: true })).toEqual([
      'base_path_stripped: is true, but base_path is empty; set base_path to the prefix that the proxy removes',
    ]);
    expect(await problemsOf({ public_url: 'https://app.example/auth' })).toEqual([
      expect.stringMatching(
        /^public_url: must be an origin without a path: use https:\/\/app\.example;/,
      ),
    ]);
  });

  // @shows AS-2.17, AS-2.18
  test('makes createAuthorizationServer throw an error with the same keys', () => {
    const make =
      (options: Pick<AuthorizationServerOptions, 'basePath' | 'basePathStripped'>) => () =>
        createAuthorizationServer({
          publicUrl: 'https://app.example',
          config: { scopes: {} },
          host: {},
          ...options,
        } as never);
    expect(make({ basePath: '/auth/../oauth' })).toThrow(
      'base_path: must not have a segment . or ..',
    );
    expect(make({ basePathStripped: true })).toThrow(
      'base_path_stripped: is true, but base_path is empty',
    );
  });

  // @shows MCP-3.10, MCP-7.10
  test('is reported for an MCP resource outside it, with the right path in the message', async () => {
    const resource = 'https://app.example/mcp';
    const server = { name: 'Tools', audience: resource, scopes: { 'mcp:tools': 'Use your tools' } };
    const config = { base_path: '/auth', oauth_server: server, mcp: { resource } };
    const plugins = [oauthServer(), mcp()];
    await expect(
      startApplication({
        ...catalog,
        plugins,
        config: { public_url: 'https://app.example', ...config },
      }),
    ).rejects.toThrow(
      'mcp:resource: must be public_url plus base_path plus /mcp: https://app.example/auth/mcp',
    );
  });
});

// @shows AS-2.17, AS-6.20
test.each([
  ['the kit', null] as const,
  ...waysOf(MOUNTS.filter(({ name }) => /^portico\/\w+$/.test(name))).map(
    (mount) => [mount.name, mount] as const,
  ),
])('%s accepts every character that a base path may have, unescaped', async (_, mount) => {
  const basePath = '/v2.1/~A-z_0/...';
  const audience = `http://localhost${basePath}/mcp`;
  const config = { public_url: 'http://localhost', base_path: basePath };
  const started =
    mount === null
      ? await startPortal({ config }).then((portal) => ({
          port: portal.env['PORT'] ?? '',
          close: () => portal.close(),
        }))
      : await mount
          .start({ ...config, oauth_server: { audience } })
          .then((running) => ({ port: new URL(running.url).port, close: () => running.close() }));
  try {
    const serves = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${started.port}${path}`);
      return (await response.text()).startsWith(`{"issuer":"http://localhost${basePath}"`);
    };
    const document = '/.well-known/openid-configuration';
    expect(await serves(`${basePath}${document}`)).toBe(true);
    expect(await serves(`${document}${basePath}`)).toBe(true);
    expect(await serves(`/v2x1/~A-z_0/...${document}`)).toBe(false);
  } finally {
    await started.close();
  }
});

describe('a server mounted below a path of the framework', () => {
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
  test("is served below app.use('/auth', …) of Express, by the path that was sent", async () => {
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

  test.each([
    ['its own prefix', BASE, ''],
    ['the prefix of the outer plugin', '', BASE],
    ['a prefix from both', '/auth', '/v1'],
  ])(
    'is refused below a prefix of Fastify, with what to do instead: %s',
    async (_, own, around) => {
      const fastify = createFastify();
      const outer = async (inner: FastifyInstance) => {
        await inner.register(fastifyPortico(installation.server), { prefix: own });
      };
      const registered = fastify.register(outer, { prefix: around });
      await expect(registered).rejects.toThrow(
        /prefix .*\/auth.*Register it without a prefix and set base_path/,
      );
      await fastify.close();
    },
  );
});

// --- the doctor
// -----------------------------------------------------------------------------------------------

describe('oauth:server:doctor --online', () => {
  const examined = async (
    config: ConfigMap,
    rule: (port: number) => BasePathRule | null,
  ): Promise<ReadonlyMap<string, Check>> => {
    const proxy = await startProxy();
    const portal = await startPortal({
      config: { public_url: proxy.url, base_path: BASE, ...config },
    });
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
  test('explains what to set if a proxy strips the base path', async () => {
    const found = await examined({}, (port) => ({ basePath: BASE, strips: true, port }));
    expect(found.get('endpoints')?.outcome).toBe('ok');
    expect(found.get('public address')).toMatchObject({
      outcome: 'failing',
      remedy: expect.stringContaining('set base_path_stripped to true') as string,
    });
  });

  // @shows AS-13.15, AS-2.18
  test('explains what to set if a proxy keeps the base path', async () => {
    const found = await examined({ base_path_stripped: true }, (port) => ({
      basePath: BASE,
      strips: false,
      port,
    }));
    expect(found.get('public address')).toMatchObject({
      outcome: 'failing',
      remedy: expect.stringContaining('remove base_path_stripped') as string,
    });
  });

  // @shows AS-13.15, AS-6.20
  test('passes if all paths lead here, including the well-known ones before the base path', async () => {
    const found = await examined({ base_path_stripped: true }, (port) => ({
      basePath: BASE,
      strips: true,
      port,
    }));
    for (const part of ['public address', 'in front of base_path', 'public key set', 'proxies'])
      expect([part, found.get(part)]).toMatchObject([part, { outcome: 'ok' }]);
  });

  // @shows AS-13.15, AS-6.20
  test('warns if the well-known paths before the base path do not lead here', async () => {
    const found = await examined({ base_path_stripped: true }, (port) => ({
      basePath: BASE,
      strips: true,
      port,
      withoutDocuments: true,
    }));
    expect(found.get('public address')?.outcome).toBe('ok');
    expect(found.get('proxies')?.outcome).toBe('ok');
    expect(found.get('in front of base_path')).toMatchObject({
      outcome: 'warning',
      remedy:
        'make the proxy forward /.well-known/*/auth, and all paths below it, to the application unchanged',
    });
  });
});

// @shows AS-13.15, AS-2.17
test('the doctor reports a consent view of the host whose form lacks the base path', async () => {
  const views = await mkdtemp(path.join(tmpdir(), 'portico-views-'));
  await mkdir(path.join(views, 'oauth'));
  const form =
    '<form action="/oauth/authorize"><%= it.requestId %><%= it.csrfToken %> decision</form>';
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
      detail:
        'the form in the view oauth/consent is sent to /oauth/authorize instead of /auth/oauth/authorize',
    });
    expect(await found({})).toMatchObject({ outcome: 'ok' });
  } finally {
    await rm(views, { recursive: true });
  }
});

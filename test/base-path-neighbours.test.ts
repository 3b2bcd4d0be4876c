// @engines sqlite: paths, documents and cookie names are the same on every engine
import * as client2 from '@modelcontextprotocol/client';
import * as extensions1 from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import * as client1 from '@modelcontextprotocol/sdk/client/index.js';
import * as http1 from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { examineAssistant } from '@portico/assistant';
import { examine } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';
import { launchChromium } from './support/chromium.ts';
import { describeWith } from './support/describe-with.ts';
import {
  authorize,
  discover,
  INSECURE,
  register,
  type Here,
  type Installation,
  type Registered,
} from './support/installation.ts';
import {
  ADA,
  CHALLENGE,
  PASSWORD,
  REDIRECT_URI,
  signIn as signInToPortal,
  startPortal,
} from './support/portal.ts';
import { startProxy, startServer, type RunningProxy } from './support/reverse-proxy.ts';
import { createVisitor, formOf, locationOf } from './support/visitor.ts';

/** This version of the SDK requests the scopes of the resource metadata, which are for people. */
class ServiceProvider extends client2.ClientCredentialsProvider {
  override prepareTokenRequest(): URLSearchParams {
    return super.prepareTokenRequest('mcp:service');
  }
}

describe('of two installations on one origin, below /a and /b,', () => {
  /** The kit with tools. For the second installation, the proxy removes the base path. */
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

  const call = (
    { assistant }: Tenant,
    token: string,
    headers: Readonly<Record<string, string>> = {},
  ) =>
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
  test('a code of one is unknown at the other, and stays valid where it was issued', async () => {
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
  test('a response of one is refused by a client of the other, because its iss differs', async () => {
    const { callback, checks } = await authorize(a, createVisitor(proxy.url));
    await expect(openid.authorizationCodeGrant(b.config, callback, checks)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('"iss"') as string },
    });
  });

  // @shows AS-6.21
  test('an access token, a refresh token and an ID token of one are invalid at the other', async () => {
    const tokens = await tokensOf(a);
    expect((await call(a, tokens.access_token)).status).toBe(200);
    expect((await call(b, tokens.access_token)).status).toBe(401);
    expect(await openid.tokenIntrospection(b.config, tokens.access_token)).toEqual({
      active: false,
    });
    const subject = tokens.claims()?.sub ?? '';
    await expect(
      openid.fetchUserInfo(b.config, tokens.access_token, subject),
    ).rejects.toMatchObject({
      status: 401,
    });
    await expect(
      openid.refreshTokenGrant(b.config, tokens.refresh_token ?? ''),
    ).rejects.toMatchObject({
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
  test('a resource of one is an invalid target at the other', async () => {
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
  test('signing in at one does not sign in at the other, nor does signing out there end anything', async () => {
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
    // A session of the first installation, under the cookie name of the second one, which looks it
    // up in its own store.
    const thief = createVisitor(proxy.url);
    thief.accept(`portico_session%2Fa=${session}; Path=/`);
    const refused = await thief.get(`${proxy.url}/a/oauth/applications`);
    expect(locationOf(refused).pathname).toBe('/a/login');
  });

  // @shows AS-6.21
  test('a consent request of one cannot be answered at the other, even if signed in at both', async () => {
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
    const elsewhere = await visitor.post(`${proxy.url}/b/oauth/authorize`, {
      ...fields,
      decision: 'allow',
    });
    expect(elsewhere.status).toBe(400);
    const asked = await visitor.get(
      `${proxy.url}/b/oauth/authorize?request_id=${fields['request_id'] ?? ''}`,
    );
    expect(asked.status).toBe(400);
    const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
    expect(answer.searchParams.has('code')).toBe(true);
  });

  // @shows AS-6.21
  test('a waiting request of one is unknown at the other, even with its cookie planted there', async () => {
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
  test('each has its MCP resource below its base path and the metadata of it at the origin', async () => {
    for (const { assistant, config } of [a, b]) {
      const { basePath, issuer } = assistant.server;
      const resource = `${issuer}/mcp`;
      for (const path of [`${basePath}/mcp`, basePath]) {
        const found = await fetch(`${proxy.url}/.well-known/oauth-protected-resource${path}`);
        expect(await found.json()).toMatchObject({ resource, authorization_servers: [issuer] });
      }
      const strict = await oauth.resourceDiscoveryRequest(new URL(resource), INSECURE);
      expect(
        (await oauth.processResourceDiscoveryResponse(new URL(resource), strict)).resource,
      ).toBe(resource);
      const { access_token: token } = await openid.clientCredentialsGrant(
        await discover(assistant.server, assistant.service),
        { scope: 'mcp:service', resource },
      );
      expect(config.serverMetadata().issuer).toBe(issuer);
      const tenant = assistant === a.assistant ? a : b;
      expect((await call(tenant, token, { Origin: proxy.url })).status).toBe(200);
      expect((await call(tenant, token, { Origin: 'https://inspector.example' })).status).toBe(200);
      for (const origin of [issuer, 'https://evil.example', `${proxy.url}0`, 'null']) {
        expect([origin, (await call(tenant, token, { Origin: origin })).status]).toEqual([
          origin,
          403,
        ]);
      }
    }
    expect((await fetch(`${proxy.url}/.well-known/oauth-protected-resource`)).status).toBe(502);
  });

  // @shows MCP-7.10, AS-6.20
  test('the official MCP clients find each one by the URL of its tools', async () => {
    for (const { assistant } of [a, b]) {
      const { issuer, config } = assistant.server;
      const { id: clientId, secret: clientSecret } = assistant.service;
      const credentials = { clientId, clientSecret, scope: 'mcp:service', expectedIssuer: issuer };
      const call = { name: 'service_status', arguments: {} };
      const answered = { structuredContent: { status: 'available' } };

      const second = new client2.Client({ name: 'test', version: '1.0.0' });
      const authProvider = new ServiceProvider(credentials);
      const address = new URL(config.audience);
      await second.connect(new client2.StreamableHTTPClientTransport(address, { authProvider }));
      expect(await second.callTool(call)).toMatchObject(answered);
      await second.close();

      const first = new client1.Client({ name: 'test', version: '1.0.0' });
      const firstProvider = new extensions1.ClientCredentialsProvider(credentials);
      await first.connect(
        new http1.StreamableHTTPClientTransport(address, { authProvider: firstProvider }),
      );
      expect(await first.callTool(call)).toMatchObject(answered);
      await first.close();
    }
  });

  // @shows MCP-9.3, MCP-7.10
  test('the doctors of both report no problem', async () => {
    for (const { assistant } of [a, b]) {
      const { application, server } = assistant;
      const report = await examine(application, server, { online: true });
      expect(
        report.checks.filter(({ outcome }) => outcome === 'failing' || outcome === 'warning'),
      ).toEqual([]);
      expect(report.checks.find(({ part }) => part === 'configuration')?.detail).toBe(
        `the issuer is ${server.issuer}, from public_url and base_path`,
      );
      const tools = await examineAssistant(application, { serverOnly: true });
      expect(
        tools.checks.filter(({ part }) => part === 'discovery' || part === 'authentication'),
      ).toEqual(expect.arrayContaining([expect.objectContaining({ outcome: 'ok' })]));
      expect(
        tools.checks.filter(({ outcome }) => outcome === 'failing').map(({ part }) => part),
      ).toEqual([]);
    }
  });
});
// --- in a browser
// ---------------------------------------------------------------------------------------------

describeWith('chromium')('in a real Chromium', () => {
  // @shows AS-2.18, AS-6.21, HOST-2.4
  test('one person uses two installations on one origin in two tabs at the same time', async () => {
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
    const browser = await launchChromium();
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
      const waiting = (await context.cookies()).filter(({ name }) =>
        name.startsWith('portico_request_'),
      );
      expect(waiting.map(({ path }) => path)).toEqual(['/a/oauth/authorize', '/b/oauth/authorize']);
      for (const { page } of tabs) {
        await page.getByLabel('Email address').fill(ADA);
        await page.getByLabel('Password').fill(PASSWORD);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'Allow' }).waitFor();
      }
      // Each installation still has its session, so each accepts its own answer.
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
      expect(names).toEqual(
        expect.arrayContaining(['portico_session%2Fa /', 'portico_session%2Fb /']),
      );
      expect(names.filter((name) => name.startsWith('portico_request_'))).toEqual([]);
    } finally {
      await browser.close();
      for (const { portal } of portals) await portal.close();
      await proxy.close();
      await relyingParty.close();
    }
  });
});

// @engines sqlite: the database makes no difference
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { authorizationServerOf, token } from 'portico';
import { createResourceServer } from '@portico/resource-server';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import { jktOf, newDpopKey, requestWithProof, tokenProof } from './support/dpop.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  exchangeCode,
  introspect,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';

/** `oauth_server:resources`: several APIs, each with separate tokens (decision 70). */
let portal: RunningPortal;
/** A portal on the same database, with `audience` and fewer resources. */
let other: RunningPortal;
let process: RunningProcess;
let client: TestClient;
let reading: string;
let writing: string;
const ELSEWHERE = 'https://api.example/v1';

const resourcesAt = (url: string) => ({
  [`${url}/reading`]: { scopes: ['notes:read'], label: 'Notes to read', challenge: true },
  [`${url}/writing`]: { scopes: ['notes:read', 'notes:write'] },
  [ELSEWHERE]: { scopes: ['notes:read'] },
});

beforeAll(async () => {
  portal = await startPortal({
    config: (url) => ({
      oauth_server: { resources: resourcesAt(url), dpop: 'accept', unknown_scopes: 'refuse' },
    }),
    routes: (application) =>
      ['reading', 'writing'].map((name) => ({
        name,
        methods: ['GET'] as const,
        path: `/${name}/notes`,
        handler: (_, request) =>
          authorizationServerOf(application)
            .resource(`${application.publicUrl}/${name}`)
            .withToken(request, async () => {
              token().requireScope('notes:read');
              return Response.json({ writes: name === 'writing' && token().can('notes:write') });
            }),
      })),
  });
  [reading, writing] = [`${portal.url}/reading`, `${portal.url}/writing`];
  client = await registerClient(portal);
  const changed = {
    resources: { [writing]: { scopes: ['notes:read'] } },
    audience: writing,
  };
  ({ other, process } = await startBeside(portal, {}, { oauth_server: changed }));
});
afterAll(async () => {
  await process.stop();
  await portal.close();
});

const tokensFor = (resource: string | undefined, scope?: string) =>
  obtainTokens(portal, client, ADA, { resource, scope });
const call = async (api: string, { access_token }: Pick<Tokens, 'access_token'>) =>
  (await callApi(portal, `${api}/notes`, access_token)).status;
/** Returns the error that a request for a code brings to the redirect URI. */
async function refusalOf(changes: Readonly<Record<string, string | undefined>>, repeated = '') {
  const visitor = await portal.signedIn(ADA);
  const url = authorizationUrl(portal, client, {
    resource: reading,
    scope: 'notes:read',
    ...changes,
  });
  return locationOf(await visitor.visit(`${url}${repeated}`)).searchParams.get('error');
}

describe('a token for a resource', () => {
  // @shows AS-12.30
  test('is accepted there, and refused at a different resource and where no resource is set', async () => {
    const tokens = await tokensFor(reading);
    expect([await call(reading, tokens), await call(writing, tokens)]).toEqual([200, 401]);
    const { status } = await callApi(portal, '/api/whoami', tokens.access_token);
    expect(status).toBe(401);
    const back = await tokensFor(writing);
    expect([await call(reading, back), await call(writing, back)]).toEqual([401, 200]);
  });

  // @shows AS-12.30
  test('that a client got without a person follows the same rule', async () => {
    const robot = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    const response = await requestToken(portal, robot, {
      grant_type: 'client_credentials',
      resource: reading,
    });
    const tokens = (await response.json()) as Tokens;
    expect([await call(reading, tokens), await call(writing, tokens)]).toEqual([200, 401]);
  });

  // @shows AS-12.30
  test('is accepted at UserInfo, whatever its resource', async () => {
    for (const resource of [reading, writing, ELSEWHERE, undefined]) {
      const { access_token } = await tokensFor(
        resource,
        resource === undefined ? 'openid' : 'openid notes:read',
      );
      expect((await callApi(portal, '/oauth/userinfo', access_token)).status).toBe(200);
    }
  });

  // @shows AS-12.30
  test('has its resource in introspection, and a remote API refuses it for a different one', async () => {
    const [here, there] = [await tokensFor(writing), await tokensFor(ELSEWHERE)];
    expect(await introspect(portal, here.access_token)).toMatchObject({
      active: true,
      aud: writing,
    });
    const introspecting = await registerClient(portal, {
      redirectUris: [],
      scopes: [],
      grants: ['introspection'],
    });
    const api = createResourceServer({
      issuer: portal.server.issuer,
      clientId: introspecting.id,
      clientSecret: introspecting.secret,
      audience: ELSEWHERE,
      allowInsecureRequests: true,
    });
    const statusOf = async ({ access_token }: Tokens) => {
      const outcome = await api.authorize(`Bearer ${access_token}`, 'notes:read');
      return outcome instanceof Response ? outcome.status : 200;
    };
    expect([await statusOf(there), await statusOf(here)]).toEqual([200, 401]);
  });

  // @shows AS-12.30
  test('that is bound to a key is refused at a different resource, too', async () => {
    const key = newDpopKey();
    const code = await obtainCode(portal, client, await portal.signedIn(ADA), {
      resource: reading,
      scope: 'notes:read',
      dpop_jkt: jktOf(key),
    });
    const { issuer } = portal.server;
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'https://client.example/callback',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    };
    const response = await requestWithProof(
      portal,
      client,
      tokenProof(key, issuer, Date.now()),
      form,
    );
    const { access_token } = (await response.json()) as Tokens;
    const statusAt = async (api: string) => {
      const ath = createHash('sha256').update(access_token).digest('base64url');
      const proof = tokenProof(key, issuer, Date.now(), { htm: 'GET', htu: `${api}/notes`, ath });
      const headers = { Authorization: `DPoP ${access_token}`, DPoP: proof };
      return (await fetch(`${api}/notes`, { headers })).status;
    };
    expect([await statusAt(writing), await statusAt(reading)]).toEqual([401, 200]);
  });
});

describe('the resource of a request must match exactly', () => {
  // @shows AS-7.30
  test('a different spelling is refused: slash, capitals, default port, query, fragment', async () => {
    const { host } = new URL(portal.url);
    for (const resource of [
      `${reading}/`,
      reading.toUpperCase(),
      reading.replace('http:', 'HTTP:'),
      `${reading}?a=b`,
      `${reading}#a`,
      `http://${host}/other/../reading`,
      ELSEWHERE.replace('api.example', 'api.example:443'),
      portal.url,
    ])
      expect([resource, await refusalOf({ resource })]).toEqual([resource, 'invalid_target']);
  });

  // @shows AS-7.30
  test('two resources are refused, even if they are equal', async () => {
    for (const second of [writing, reading])
      expect(await refusalOf({}, `&resource=${encodeURIComponent(second)}`)).toBe('invalid_target');
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    for (const each of [reading, writing]) body.append('resource', each);
    const headers = { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
    const response = await fetch(`${portal.url}/oauth/token`, { method: 'POST', headers, body });
    expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_request']);
  });

  // @shows AS-7.31
  test('scopes of a different resource are refused; without scope, its own scopes are granted', async () => {
    expect(await refusalOf({ scope: 'notes:read notes:write' })).toBe('invalid_scope');
    expect((await tokensFor(reading)).scope).toBe('profile email notes:read');
    expect((await tokensFor(writing)).scope).toBe('profile email notes:read notes:write');
  });

  // @shows AS-7.31
  test('without a resource only sign-in is possible, and the token is valid for no resource', async () => {
    expect(await refusalOf({ resource: undefined, scope: 'openid notes:read' })).toBe(
      'invalid_scope',
    );
    const tokens = await tokensFor(undefined, 'openid profile');
    expect(await introspect(portal, tokens.access_token)).not.toHaveProperty('aud');
    expect([await call(reading, tokens), await call(writing, tokens)]).toEqual([401, 401]);
  });

  // @shows AS-7.31
  test('a scope that no resource lists cannot be granted, with or without a resource', async () => {
    const config = (url: string) => ({
      oauth_server: { resources: { [`${url}/reading`]: { scopes: ['notes:read'] } } },
    });
    const forgetful = await startPortal({ config });
    try {
      const machine = await registerClient(forgetful, {
        redirectUris: [],
        grants: ['client_credentials'],
        scopes: ['notes:write'],
      });
      for (const resource of [undefined, `${forgetful.url}/reading`]) {
        const asked = {
          grant_type: 'client_credentials',
          scope: 'notes:write',
          ...(resource === undefined ? {} : { resource }),
        };
        expect(await errorOf(await requestToken(forgetful, machine, asked))).toBe('invalid_scope');
      }
    } finally {
      await forgetful.close();
    }
  });

  // @shows AS-8.35
  test('the consent page shows the label of the resource, if it has one', async () => {
    const visitor = await portal.signedIn(ADA);
    const pageFor = async (resource: string) =>
      (
        await visitor.visit(authorizationUrl(portal, client, { resource, scope: 'notes:read' }))
      ).text();
    expect(await pageFor(reading)).toContain(
      'For use with <strong><bdi>Notes to read</bdi></strong>',
    );
    expect(await pageFor(writing)).not.toContain('For use with');
  });
});

describe('a grant keeps its resource', () => {
  // @shows AS-9.20
  test('a code cannot be exchanged for a different resource, and is invalid after the attempt', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA), {
      resource: reading,
      scope: 'notes:read',
    });
    const refused = await exchangeCode(portal, client, code, { resource: writing });
    expect([refused.status, await errorOf(refused)]).toEqual([400, 'invalid_grant']);
    expect((await exchangeCode(portal, client, code, { resource: reading })).status).toBe(400);
  });

  // @shows AS-9.20
  test('a refresh keeps it, and a refused request for a different resource keeps the token valid', async () => {
    const first = await tokensFor(reading);
    const refused = await refresh(portal, client, first.refresh_token, { resource: writing });
    expect([refused.status, await errorOf(refused)]).toEqual([400, 'invalid_target']);
    const wider = await refresh(portal, client, first.refresh_token, {
      scope: 'notes:read notes:write',
    });
    expect([wider.status, await errorOf(wider)]).toEqual([400, 'invalid_scope']);
    const second = (await (await refresh(portal, client, first.refresh_token)).json()) as Tokens;
    expect([await call(reading, second), await call(writing, second)]).toEqual([200, 401]);
    const named = await refresh(portal, client, second.refresh_token, { resource: reading });
    expect(named.status).toBe(200);
  });
});

describe('the current configuration applies', () => {
  // @shows AS-12.31
  test('to tokens, codes and refresh tokens of a removed resource, which are refused', async () => {
    const tokens = await tokensFor(reading);
    const code = await obtainCode(portal, client, await portal.signedIn(ADA), {
      resource: reading,
      scope: 'notes:read',
    });
    expect((await introspect(other, tokens.access_token)).active).toBe(false);
    expect((await callApi(other, '/oauth/userinfo', tokens.access_token)).status).toBe(401);
    for (const refused of [
      await refresh(other, client, tokens.refresh_token),
      await exchangeCode(other, client, code),
    ])
      expect([refused.status, await errorOf(refused)]).toEqual([400, 'invalid_grant']);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
  });

  // @shows AS-12.31
  test('to a scope that was removed from its resource, which is neither accepted nor refreshed', async () => {
    const tokens = await tokensFor(writing, 'notes:read notes:write');
    const introspected = await introspect(other, tokens.access_token);
    expect([introspected['scope'], introspected['aud']]).toEqual(['notes:read', writing]);
    const again = (await (await refresh(other, client, tokens.refresh_token)).json()) as Tokens;
    expect(again.scope).toBe('notes:read');
  });

  // @shows AS-2.35
  test('to a request without a resource, which gets the audience', async () => {
    const visitor = await portal.signedIn(ADA);
    const code = await obtainCode(other, client, visitor, { scope: 'notes:read' });
    const response = await exchangeCode(other, client, code);
    const tokens = (await response.json()) as Tokens;
    expect([await call(writing, tokens), await call(reading, tokens)]).toEqual([200, 401]);
    expect((await callApi(other, '/api/notes', tokens.access_token)).status).toBe(200);
  });
});

describe('the metadata of each resource', () => {
  // @shows AS-6.30, RFC9728-2, RFC9728-3.1
  test('is at the URL of the resource, with its scopes', async () => {
    const documentOf = async (name: string) =>
      (await fetch(`${portal.url}/.well-known/oauth-protected-resource/${name}`)).json();
    const common = { authorization_servers: [portal.url], bearer_methods_supported: ['header'] };
    expect(await documentOf('reading')).toMatchObject({
      ...common,
      resource: reading,
      resource_name: 'Notes to read',
      scopes_supported: ['notes:read'],
    });
    expect(await documentOf('writing')).toMatchObject({
      ...common,
      resource: writing,
      resource_name: 'Portal',
      scopes_supported: ['notes:read', 'notes:write'],
    });
    expect((await fetch(`${portal.url}/.well-known/oauth-protected-resource`)).status).toBe(404);
    const metadata = (await (
      await fetch(`${portal.url}/.well-known/oauth-authorization-server`)
    ).json()) as object;
    expect(metadata).toMatchObject({ protected_resources: [reading, writing, ELSEWHERE] });
  });

  // @shows AS-6.30
  test('is announced in the metadata of the server, if there are resources', async () => {
    const announced = async (resources?: object) => {
      const own = await startPortal({ config: { oauth_server: { resources } } });
      onTestFinished(() => own.close());
      const url = `${own.url}/.well-known/oauth-authorization-server`;
      return ((await (await fetch(url)).json()) as Readonly<Record<string, unknown>>)[
        'protected_resources'
      ];
    };
    expect(await announced({ [ELSEWHERE]: { scopes: ['notes:read'] } })).toEqual([ELSEWHERE]);
    expect([await announced({}), await announced()]).toEqual([undefined, undefined]);
  });

  // @shows AS-12.32
  test('is in its challenges, if the option is set', async () => {
    const challengeOf = async (api: string) =>
      (await fetch(`${api}/notes`)).headers.get('www-authenticate');
    const named = `resource_metadata="${portal.url}/.well-known/oauth-protected-resource/reading"`;
    expect(await challengeOf(reading)).toContain(named);
    expect(await challengeOf(writing)).not.toContain('resource_metadata');
  });
});

describe('an invalid configuration prevents the start', () => {
  const refusalOfConfig = (oauth_server: object) =>
    startPortal({ config: { oauth_server } }).then(
      async (started) => {
        await started.close();
        return 'it started';
      },
      (error: unknown) => String(error),
    );

  // @shows AS-2.35
  test.each([
    [
      'https://a.example:443/x',
      { scopes: ['notes:read'] },
      'must be written as https://a.example/x',
    ],
    ['https://A.example/x', { scopes: ['notes:read'] }, 'must be written as https://a.example/x'],
    ['https://a.example/x?y', { scopes: ['notes:read'] }, 'must be the URL of an API'],
    ['https://a.example/x#y', { scopes: ['notes:read'] }, 'must be the URL of an API'],
    ['/x', { scopes: ['notes:read'] }, 'must be the URL of an API'],
    ['https://a:b@a.example/x', { scopes: ['notes:read'] }, 'must be the URL of an API'],
    ['https://a.example/:x', { scopes: ['notes:read'] }, 'must not contain : or * in its path'],
    ['https://a.example/*', { scopes: ['notes:read'] }, 'must not contain : or * in its path'],
    ['https://a.example/x', {}, 'list the scopes'],
    ['https://a.example/x', { scopes: [] }, 'must contain at least one scope'],
    [
      'https://a.example/x',
      { scopes: ['gone'] },
      'contains gone, which is not in oauth_server:scopes',
    ],
    [
      'https://a.example/x',
      { scopes: ['openid'] },
      'contains openid, which every resource already has',
    ],
    [
      'https://a.example/x',
      { scopes: ['notes:read'], challenge: true },
      'cannot publish the metadata',
    ],
  ])('%s with %j: %s', async (url, settings, message) => {
    expect(await refusalOfConfig({ resources: { [url]: settings } })).toContain(message);
  });

  // @shows AS-2.35
  test('two resources that differ only in the final slash, or an audience that is not a resource', async () => {
    const each = { scopes: ['notes:read'] };
    expect(
      await refusalOfConfig({ resources: { [ELSEWHERE]: each, [`${ELSEWHERE}/`]: each } }),
    ).toContain('slash at the end');
    expect(
      await refusalOfConfig({ resources: { [ELSEWHERE]: each }, audience: 'https://b.example/' }),
    ).toContain('is not in oauth_server:resources');
  });

  // @shows AS-12.30
  test('server.resource() throws for a URL that is not configured', () => {
    expect(() => portal.server.resource(`${reading}/`)).toThrow(
      'add the URL to oauth_server:resources',
    );
  });
});

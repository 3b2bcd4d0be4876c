// @engines sqlite: the database makes no difference
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, get, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { portico } from 'portico/next';
import { portico as mountedInNode, requestFrom, send } from 'portico/node';
import { token } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jktOf, newDpopKey, requestWithProof } from './support/dpop.ts';
import { boundHeaders, proofFor } from './support/proofs.ts';
import {
  ADA,
  callApi,
  obtainCode,
  obtainTokens,
  REDIRECT_URI,
  registerClient,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

/** Why the server rejects a token: the response to the client, and the log line. */

const API = 'https://api.example/v1';
const NOTES = '/api/notes';
const USERINFO = '/oauth/userinfo';
const key = newDpopKey();

type Json = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, string>>;

let portal: RunningPortal;
/**
 * Portals on the same database. One requires bound tokens, one accepts none, one needs a nonce in
 * proofs, and one has another audience.
 */
let strict: RunningPortal;
let off: RunningPortal;
let asking: RunningPortal;
let elsewhere: RunningPortal;
let client: TestClient;
let service: TestClient;
/** Ada's token, and the service's. */
let unbound: string;
let boundToAda: string;
let boundToService: string;

beforeAll(async () => {
  const on = { audience: API, dpop: 'accept' };
  portal = await startPortal({ config: { oauth_server: on } });
  const beside = (changes: object) =>
    startPortal({
      databaseUrl: portal.env['DATABASE_URL'] ?? '',
      config: { oauth_server: { ...on, ...changes } },
    });
  strict = await beside({ dpop: 'require' });
  off = await beside({ dpop: 'off' });
  asking = await beside({ dpop_nonces: true });
  elsewhere = await beside({ audience: 'https://other.example/?key=1' });
  client = await registerClient(portal);
  service = await newService();
  ({ access_token: unbound } = await obtainTokens(portal, client, ADA));
  boundToAda = await boundToken(client, {
    grant_type: 'authorization_code',
    code: await obtainCode(portal, client, await portal.signedIn(ADA)),
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
  boundToService = await boundToken(service, { grant_type: 'client_credentials' });
});
afterAll(async () => {
  for (const each of [elsewhere, asking, off, strict, portal]) await each.close();
});

const newService = () =>
  registerClient(portal, {
    redirectUris: [],
    scopes: ['notes:read'],
    grants: ['client_credentials'],
  });

const basic = ({ id, secret }: TestClient) => `Basic ${btoa(`${id}:${secret}`)}`;

async function boundToken(by: TestClient, form: Fields): Promise<string> {
  const proof = proofFor(key, 'POST', `${portal.url}/oauth/token`);
  const response = await requestWithProof(portal, by, proof, form);
  const tokens = (await response.json()) as Tokens;
  expect(tokens.token_type).toBe('DPoP');
  return tokens.access_token;
}

const ask = (at: RunningPortal, path: string, headers: Fields) =>
  fetch(`${at.url}${path}`, { headers });

const bearer = (token: string): Fields => ({ Authorization: `Bearer ${token}` });
const bound = (at: RunningPortal, path: string, token: string, more: Json = {}, by = key) =>
  boundHeaders(by, 'GET', `${at.url}${path}`, token, more);

const idOf = ({ headers }: Response) => headers.get('x-request-id');

/** Returns the content of the log line about the request with this id. There must be only one. */
async function lineOf(at: RunningPortal, id: string | null): Promise<Json> {
  const log = await readFile(`${at.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');
  const lines = log.split('\n').filter((line) => line !== '');
  const own = lines
    .map((line) => JSON.parse(line) as Json)
    .filter(({ requestId }) => requestId === id);
  expect(own).toHaveLength(1);
  return own[0] ?? {};
}

/**
 * The status, the schemes of the challenge, its error, the reason in the log, and the owner of the
 * token.
 */
async function refusal(at: RunningPortal, asked: Promise<Response>) {
  const response = await asked;
  const challenge = response.headers.get('www-authenticate') ?? '';
  const schemes = [...challenge.matchAll(/(\w+) realm=/g)].map(([, scheme]) => scheme).join(' ');
  const error = /error="([^"]*)"/.exec(challenge)?.[1] ?? null;
  const { detail, clientId = null } = await lineOf(at, idOf(response));
  return [response.status, schemes, error, detail, clientId];
}

const UNKNOWN = 'the token is unknown: never issued here, revoked, or expired long ago';
const OTHER_SCHEME = 'the Authorization header does not use the scheme Bearer';
const ILL_FORMED = 'the bearer token is not well formed';
const UNBOUND = 'the token is not bound to a key';
const BOUND = 'the token is bound to a key, but was sent with the scheme Bearer';

describe('a refused token, with the reason in the log:', () => {
  test.each<[string, Fields, string, string | null, string]>([
    ['no header', {}, 'Bearer DPoP', null, 'there is no Authorization header'],
    ['a different scheme', { Authorization: 'Basic x' }, 'Bearer DPoP', null, OTHER_SCHEME],
    [
      'the scheme Bearer without a token',
      { Authorization: 'Bearer' },
      'Bearer DPoP',
      'invalid_token',
      ILL_FORMED,
    ],
    [
      'the scheme DPoP without a token',
      { Authorization: 'DPoP' },
      'DPoP',
      'invalid_token',
      ILL_FORMED,
    ],
    [
      'an unknown Bearer token',
      { Authorization: 'Bearer x' },
      'Bearer DPoP',
      'invalid_token',
      UNKNOWN,
    ],
    ['an unknown DPoP token', { Authorization: 'DPoP x' }, 'DPoP', 'invalid_token', UNKNOWN],
  ])('%s', async (_, headers, schemes, error, detail) => {
    for (const path of [NOTES, USERINFO])
      expect(await refusal(portal, ask(portal, path, headers))).toEqual([
        401,
        schemes,
        error,
        detail,
        null,
      ]);
  });

  // @shows RFC9449-7.2
  test('a bound token as Bearer, an unbound one as DPoP, or an unbound one if binding is required', async () => {
    for (const [at, headers, schemes, detail] of [
      [portal, bearer(boundToAda), 'Bearer DPoP', BOUND],
      [portal, bound(portal, NOTES, unbound), 'DPoP', UNBOUND],
      [strict, bearer(unbound), 'DPoP', UNBOUND],
      [strict, bearer(boundToAda), 'DPoP', BOUND],
      [strict, bound(strict, NOTES, unbound), 'DPoP', UNBOUND],
      [off, bearer(boundToAda), 'Bearer', BOUND],
    ] as const)
      expect(await refusal(at, ask(at, NOTES, headers))).toEqual([
        401,
        schemes,
        'invalid_token',
        detail,
        client.id,
      ]);
    expect(await refusal(off, ask(off, NOTES, bound(off, NOTES, boundToAda)))).toEqual([
      401,
      'Bearer',
      null,
      OTHER_SCHEME,
      null,
    ]);
    for (const [at, headers] of [
      [portal, bearer(unbound)],
      [portal, bound(portal, NOTES, boundToAda)],
      [strict, bound(strict, NOTES, boundToAda)],
      [off, bearer(unbound)],
    ] as const)
      expect((await ask(at, NOTES, headers)).status).toBe(200);
  });

  test('a token for a different audience: the log contains both, without secret parts', async () => {
    const detail = `the token was granted for "${API}", but oauth_server:audience is "https://other.example/?…"`;
    expect(await refusal(elsewhere, ask(elsewhere, NOTES, bearer(unbound)))).toEqual([
      401,
      'Bearer DPoP',
      'invalid_token',
      detail,
      client.id,
    ]);
  });

  test('a token without the scope: the log contains the client', async () => {
    const { access_token: narrow } = await obtainTokens(portal, client, ADA, { scope: 'profile' });
    expect(await refusal(portal, ask(portal, NOTES, bearer(narrow)))).toEqual([
      403,
      'Bearer DPoP',
      'insufficient_scope',
      'the access token does not have the scope notes:read',
      client.id,
    ]);
  });

  test('a token of a client that was revoked or has lost the grant type', async () => {
    const detailOf = async (token: string) =>
      (await refusal(portal, callApi(portal, NOTES, token)))[3];
    const issued = async (by: TestClient) => {
      const response = await requestToken(portal, by, { grant_type: 'client_credentials' });
      return ((await response.json()) as Tokens).access_token;
    };
    const [revoked, changed] = [await newService(), await newService()];
    const [one, other] = [await issued(revoked), await issued(changed)];
    await portal.server.clients.revoke(revoked.id);
    expect(await detailOf(one)).toBe('the client of the token was revoked');
    await portal.application.database.execute(
      'UPDATE oauth_clients SET grants = ? WHERE client_id = ?',
      ['introspection', changed.id],
    );
    expect(await detailOf(other)).toBe(
      'the client of the token is no longer registered for the grant that the token was issued with',
    );
  });
});

describe('a DPoP proof that is not accepted has its reason in the log:', () => {
  // @shows RFC9449-7.1a
  test.each<[string, () => Fields, string, string | RegExp]>([
    [
      'no proof',
      () => ({ Authorization: `DPoP ${boundToAda}` }),
      'invalid_dpop_proof',
      'there is no DPoP header',
    ],
    [
      'a proof with a different key',
      () => bound(portal, NOTES, boundToAda, {}, newDpopKey()),
      'invalid_token',
      'the proof was signed with a different key than the one that the token is bound to',
    ],
    [
      'a proof for a different method',
      () => bound(portal, NOTES, boundToAda, { htm: 'POST' }),
      'invalid_dpop_proof',
      /htm/,
    ],
    [
      'a proof for a different path',
      () => bound(portal, USERINFO, boundToAda),
      'invalid_dpop_proof',
      /htu/,
    ],
    [
      'a proof for a different token',
      () => bound(portal, NOTES, boundToAda, { ath: 'x' }),
      'invalid_dpop_proof',
      /ath/,
    ],
  ])('%s', async (_, headers, error, detail) => {
    const [status, schemes, told, reason] = await refusal(portal, ask(portal, NOTES, headers()));
    expect([status, schemes, told]).toEqual([401, 'DPoP', error]);
    expect(reason).toMatch(detail);
  });

  test('a proof with a different key: the log contains the owner of the token', async () => {
    const headers = bound(portal, NOTES, boundToAda, {}, newDpopKey());
    expect((await refusal(portal, ask(portal, NOTES, headers)))[4]).toBe(client.id);
  });

  // @shows RFC9449-11.1
  test('a replayed proof, even if other values of the request differ', async () => {
    const headers = bound(portal, NOTES, boundToAda);
    expect((await ask(portal, `${NOTES}?page=1`, headers)).status).toBe(200);
    const [status, , error] = await refusal(portal, ask(portal, NOTES, headers));
    expect([status, error]).toEqual([401, 'invalid_dpop_proof']);
  });

  test('a proof for a path that a URL parser rewrites, or for an unknown path', async () => {
    const detail = 'the path of the request is not correctly percent-encoded';
    const headers = bound(portal, NOTES, boundToAda);
    const server = createServer((incoming, outgoing) => {
      const target = incoming.url ?? '';
      const asked = requestFrom(
        { incoming, outgoing, target, parsed: undefined },
        portal.server.origin,
      );
      const work = async () => {
        expect(() => token().requireUsable()).toThrow(expect.objectContaining({ detail }) as Error);
        return new Response('refused');
      };
      void portal.server.withToken(asked, work).then((response) => send(response, outgoing, false));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const path of ['/api/x/../notes', '/api/%2e/notes']) {
      const asking = get({ port, path, headers, agent: false });
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      answer.resume();
      expect([path, answer.statusCode]).toEqual([path, 200]);
    }
    server.close();
    const { withToken } = portico(async () => [portal.server], 'a proof of headers alone');
    const asked = withToken(new Headers(headers), () => token().requireUsable());
    await expect(asked).rejects.toMatchObject({ code: 'invalid_dpop_proof', detail });
  });

  test('a proof for another target than that of the request in node:http', async () => {
    const mount = mountedInNode(portal.server);
    const server = createServer((incoming, outgoing) => {
      const work = async () => {
        token().requireUsable();
        outgoing.end('in');
      };
      void mount.withToken(incoming, outgoing, work);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const statusOf = async (path: string, method = 'GET') => {
      const headers = bound(portal, NOTES, boundToAda);
      return (await fetch(`http://127.0.0.1:${port}${path}`, { method, headers })).status;
    };
    expect([await statusOf(NOTES), await statusOf(`${NOTES}?page=1`)]).toEqual([200, 200]);
    expect([await statusOf(`${NOTES}/1`), await statusOf(NOTES, 'POST')]).toEqual([401, 401]);
    server.close();
  });

  test('a proof for a request whose header was changed later', async () => {
    const url = `${portal.url}${NOTES}`;
    const used = bound(portal, NOTES, boundToAda);
    expect((await fetch(url, { headers: used })).status).toBe(200);
    const own = new Request(url, { headers: bound(portal, NOTES, boundToAda) });
    const asked = () =>
      portal.server.withToken(own, async () => {
        token().requireUsable();
        return Response.json({});
      });
    expect((await asked()).status).toBe(200);
    expect((await asked()).status).toBe(200);
    own.headers.set('DPoP', used['DPoP'] ?? '');
    expect((await asked()).status).toBe(401);
  });

  test('a proof where there is no request to compare', async () => {
    const found = await portal.server.lookUpToken(`DPoP ${boundToAda}`);
    if (!('run' in found)) throw new Error('no token was looked up');
    expect(() => found.run(() => token().requireUsable())).toThrow(
      expect.objectContaining({
        code: 'invalid_dpop_proof',
        detail:
          'lookUpToken() was called without a request; pass the request that contains the proof',
      }) as Error,
    );
  });

  test('if the store fails, the response is a server error, and the proof can be used later', async () => {
    const rename = (from: string, to: string) =>
      portal.application.database.execute(`ALTER TABLE ${from} RENAME TO ${to}`);
    await rename('oauth_single_uses', 'elsewhere');
    try {
      const response = await ask(portal, NOTES, bound(portal, NOTES, boundToAda));
      expect(response.status).toBeGreaterThanOrEqual(500);
    } finally {
      await rename('elsewhere', 'oauth_single_uses');
    }
    expect((await ask(portal, NOTES, bound(portal, NOTES, boundToAda))).status).toBe(200);
  });

  // @shows RFC9449-9
  test('a proof without the required nonce: only this refusal contains a nonce', async () => {
    const refused = await ask(asking, NOTES, bound(asking, NOTES, boundToAda));
    const nonce = refused.headers.get('dpop-nonce') ?? '';
    expect([
      refused.status,
      /error="(\w*)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1],
    ]).toEqual([401, 'use_dpop_nonce']);
    expect((await ask(asking, NOTES, bound(asking, NOTES, boundToAda, { nonce }))).status).toBe(
      200,
    );
    for (const headers of [
      { Authorization: `DPoP ${boundToAda}` },
      bound(asking, NOTES, boundToAda, { nonce }, newDpopKey()),
      bound(asking, NOTES, 'x', { nonce }),
    ])
      expect((await ask(asking, NOTES, headers)).headers.get('dpop-nonce')).toBe(null);
  });
});

describe('a route of the host', () => {
  const requestOf = (id: string, headers: Fields = {}) =>
    new Request(`${portal.url}${NOTES}`, { headers: { ...headers, 'X-Request-Id': id } });

  test('logs a refusal once, however many checks it runs, and the response has the request ID', async () => {
    const id = randomUUID();
    const answer = await portal.server.withToken(requestOf(id), async () => {
      expect(() => token().requireScope('notes:read')).toThrow('access token');
      token().requireUsable();
      return Response.json({});
    });
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([401, id]);
    const { detail, endpoint, error, address } = await lineOf(portal, id);
    expect([detail, endpoint, error]).toEqual([
      'there is no Authorization header',
      'token()',
      'missing_token',
    ]);
    expect(address).not.toBe(undefined);
  });

  test('passes its errors on, and they do not count as refusals', async () => {
    const failing = portal.server.withToken(requestOf(randomUUID()), () =>
      Promise.reject(new Error('its own')),
    );
    await expect(failing).rejects.toThrow('its own');
  });

  test('does not run if the store fails: the response is a server error with the request ID', async () => {
    const rename = (from: string, to: string) =>
      portal.application.database.execute(`ALTER TABLE ${from} RENAME TO ${to}`);
    const id = randomUUID();
    await rename('oauth_access_tokens', 'elsewhere');
    try {
      const answer = await portal.server.withToken(requestOf(id, bearer(unbound)), () => {
        throw new Error('the handler was run');
      });
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(answer.headers.get('x-request-id')).toBe(id);
      expect(answer.headers.get('content-type')).not.toContain('html');
      expect(await lineOf(portal, id)).toMatchObject({ endpoint: 'token()', level: 'error' });
      const found = await portal.server.lookUpToken(`Bearer ${unbound}`);
      if ('run' in found) throw new Error('a token was looked up');
      expect(found.failure.status).toBe(answer.status);
      expect(found.failure.headers.get('x-request-id')).toBe(null);
    } finally {
      await rename('elsewhere', 'oauth_access_tokens');
    }
  });
});

describe('UserInfo refuses a token, with the reason in the log,', () => {
  const post = (headers: Fields, form: Fields) =>
    fetch(`${portal.url}${USERINFO}`, { method: 'POST', headers, body: new URLSearchParams(form) });

  test('if it has no person, in the scheme of the request', async () => {
    const response = await requestToken(portal, service, { grant_type: 'client_credentials' });
    const { access_token: free } = (await response.json()) as Tokens;
    const detail = 'the access token was issued to the client itself, not for a person';
    expect(await refusal(portal, ask(portal, USERINFO, bearer(free)))).toEqual([
      403,
      'Bearer DPoP',
      'insufficient_scope',
      detail,
      service.id,
    ]);
    expect(
      await refusal(portal, ask(portal, USERINFO, bound(portal, USERINFO, boundToService))),
    ).toEqual([403, 'DPoP', 'insufficient_scope', detail, service.id]);
  });

  test('if it belongs to an application, even with the scope openid', async () => {
    const own = await newService();
    const response = await requestToken(portal, own, { grant_type: 'client_credentials' });
    const { access_token: free } = (await response.json()) as Tokens;
    // Writes the rows as if the access had been granted, although the server would refuse it now.
    for (const table of ['oauth_access_tokens', 'oauth_clients'])
      await portal.application.database.execute(
        `UPDATE ${table} SET scope = ? WHERE client_id = ?`,
        ['openid', own.id],
      );
    const refused = await ask(portal, USERINFO, bearer(free));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    expect(refused.headers.get('www-authenticate')).toContain('scope="openid"');
  });

  test('if it is in the body of a GET request, which is ignored', async () => {
    const body = `access_token=${unbound}`;
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': body.length,
    };
    const asking = request(`${portal.url}${USERINFO}`, { method: 'GET', headers, agent: false });
    asking.end(body);
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).not.toContain('error=');
  });

  test('if it is in a form that is too large', async () => {
    expect((await post({}, { access_token: unbound, more: 'x'.repeat(70_000) })).status).toBe(413);
  });

  test('if it lacks the scope openid', async () => {
    const { access_token: narrow } = await obtainTokens(portal, client, ADA, { scope: 'profile' });
    expect(await refusal(portal, ask(portal, USERINFO, bearer(narrow)))).toEqual([
      403,
      'Bearer DPoP',
      'insufficient_scope',
      'the access token does not have the scope openid',
      client.id,
    ]);
  });

  test('if it is in a form and the header, twice in a form, or bound and in a form', async () => {
    expect(await refusal(portal, post(bearer(unbound), { access_token: unbound }))).toEqual([
      400,
      'Bearer DPoP',
      'invalid_request',
      'the request has an access token in the form and also an Authorization header',
      null,
    ]);
    expect(await refusal(portal, post({}, { access_token: boundToAda }))).toEqual([
      401,
      'Bearer DPoP',
      'invalid_token',
      BOUND,
      client.id,
    ]);
    const twice = new URLSearchParams([
      ['access_token', unbound],
      ['access_token', unbound],
    ]);
    const [status, , error, detail] = await refusal(
      portal,
      fetch(`${portal.url}${USERINFO}`, { method: 'POST', body: twice }),
    );
    expect([status, error]).toEqual([400, 'invalid_request']);
    expect(detail).toMatch(/access_token/);
    expect((await post({}, { access_token: unbound })).status).toBe(200);
  });
});

describe('introspection', () => {
  const introspected = async (at: RunningPortal, token: string) => {
    const api = await registerClient(portal, {
      redirectUris: [],
      scopes: [],
      grants: ['introspection'],
    });
    const body = new URLSearchParams({ token });
    const headers = { Authorization: basic(api) };
    const response = await fetch(`${at.url}/oauth/introspect`, { method: 'POST', headers, body });
    return (await response.json()) as Json;
  };

  // @shows RFC9449-6.2
  test('returns the key and audience of a token, and its start and end in seconds', async () => {
    const free = await introspected(portal, unbound);
    const now = Math.floor(Date.now() / 1000);
    expect(free).toMatchObject({ active: true, aud: API, token_type: 'Bearer', iss: portal.url });
    expect(free).not.toHaveProperty('cnf');
    expect(Math.abs(now - Number(free['iat']))).toBeLessThan(3600);
    expect(Number(free['exp']) - Number(free['iat'])).toBe(3600);
    expect(await introspected(portal, boundToAda)).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: jktOf(key) },
      sub: free['sub'],
    });
    expect(await introspected(portal, boundToService)).toEqual({
      active: true,
      scope: 'notes:read',
      client_id: service.id,
      token_type: 'DPoP',
      exp: expect.any(Number) as number,
      iat: expect.any(Number) as number,
      iss: portal.url,
      aud: API,
      cnf: { jkt: jktOf(key) },
    });
    for (const [at, token] of [
      [strict, unbound],
      [off, boundToAda],
      [elsewhere, unbound],
    ] as const)
      expect(await introspected(at, token)).toEqual({ active: false });
  });

  test('is refused to a client without permission for it, with the reason in the log', async () => {
    const known = await registerClient(portal, { public: true });
    await portal.application.database.execute(
      'UPDATE oauth_clients SET grants = ? WHERE client_id = ?',
      ['introspection', known.id],
    );
    for (const [form, headers, detail] of [
      [{ client_id: known.id }, {}, 'the client is public, so it cannot prove its identity'],
      [
        {},
        { Authorization: basic(service) },
        'the client is registered only for client_credentials',
      ],
    ] as const) {
      const body = new URLSearchParams({ token: unbound, ...form });
      const response = await fetch(`${portal.url}/oauth/introspect`, {
        method: 'POST',
        headers,
        body,
      });
      expect(response.status).toBe(400);
      expect(await lineOf(portal, idOf(response))).toMatchObject({
        error: 'unauthorized_client',
        detail,
      });
    }
  });
});

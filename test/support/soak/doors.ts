import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto';
import { claimsOf, headerOf, signed, withAssertion, type ClientKey } from '../assertions.ts';
import { REDIRECT_URI, VERIFIER } from '../portal.ts';
import { startDocumentHost } from '../document-host.ts';
import { hashOf, proofFor } from '../proofs.ts';
import { createVisitor, locationOf } from '../visitor.ts';
import { newer, older, type Sent } from './calls.ts';
import {
  BATCH,
  bearer,
  consentOf,
  expectStatus,
  inBatches,
  requestOf,
  visitSignedIn,
  type Door,
  type Path,
  type Steering,
} from './path.ts';
import type { Soaked } from './soak.ts';

/**
 * The paths of clients that registered themselves or that sign. Each path runs `times` calls, and
 * each call is several requests.
 */
export const DOORS: Readonly<
  Record<
    'registration' | 'documents' | 'challenges' | 'refresh' | 'signing' | 'devices' | 'logout',
    Door
  >
> = {
  registration,
  documents,
  challenges,
  refresh,
  signing,
  devices,
  logout,
};

const json = (body: object) => ({
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/**
 * Uses a registration: POST, GET, PUT, GET with another client's token, and DELETE. Every second
 * registration has a secret. It stays until the secret expires, and the next GET renews the secret.
 */
async function registration({ url }: Soaked, { advance }: Steering): Promise<Path> {
  let kept: { readonly uri: string; readonly token: string } | null = null;
  const once = async (number: number) => {
    if (kept !== null) await expectStatus(200, fetch(kept.uri, { headers: bearer(kept.token) }));
    const isKept = number % 2 !== 0;
    const sent = {
      token_endpoint_auth_method: isKept ? 'client_secret_basic' : 'none',
      client_name: 'Soak',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
    };
    const registered = await expectStatus(
      201,
      fetch(`${url}/oauth/register`, { method: 'POST', ...json(sent) }),
    );
    const {
      client_id,
      registration_client_uri: uri = '',
      registration_access_token: token = '',
    } = JSON.parse(registered) as Readonly<Record<string, string>>;
    await expectStatus(200, fetch(uri, { headers: bearer(token) }));
    const replacing = json({ ...sent, client_id, client_name: 'Named' });
    await expectStatus(
      200,
      fetch(uri, {
        method: 'PUT',
        ...replacing,
        headers: { ...replacing.headers, ...bearer(token) },
      }),
    );
    await expectStatus(401, fetch(uri, { headers: bearer('x'.repeat(43)) }));
    if (isKept) kept = { uri, token };
    else await expectStatus(204, fetch(uri, { method: 'DELETE', headers: bearer(token) }));
  };
  return inBatches(BATCH, once, () => advance(3700));
}

/**
 * Uses client documents. The consent page appears with a fetched document, appears again with the
 * cached document, and is denied. The server fetches a known document again when it is no longer
 * fresh, and rejects a missing document.
 */
async function documents({ url }: Soaked, { advance }: Steering): Promise<Path> {
  const host = await startDocumentHost();
  const document = {
    client_name: 'Soak',
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'none',
  };
  const publish = (path: string) => {
    host.publish(path, document, { 'Cache-Control': 'max-age=300' });
    return host.url(path, 'localhost');
  };
  const known = publish('/known.json');
  const visitor = createVisitor(url);
  let asked = 0;
  const once = async (number: number) => {
    await advance(360);
    const fresh = publish(`/client-${number}.json`);
    const before = host.asked.length;
    for (const client of [known, fresh, fresh]) {
      const consent = await consentOf(visitor, requestOf(url, client));
      const back = locationOf(await visitor.submit(consent, { decision: 'deny' }));
      if (back.searchParams.get('error') !== 'access_denied')
        throw new Error(`Led to ${back.href}`);
    }
    await expectStatus(
      400,
      visitor.get(requestOf(url, host.url(`/gone-${number}.json`, 'localhost'))),
    );
    asked += host.asked.length - before;
    // Each round fetches three documents: the new one, the known one and the missing one.
    if (asked !== (number + 1) * 3)
      throw new Error(`${asked} documents were asked for in ${number + 1} rounds`);
  };
  return { ...inBatches(1, once), close: () => host.close() };
}

/** Gets 401 and 403 with challenges from the application's own API and from the MCP endpoint. */
async function challenges({ url, json: { resource }, service }: Soaked): Promise<Path> {
  const tokenOf = async (scope: string) => {
    const form = { grant_type: 'client_credentials', scope, resource };
    const headers = {
      Authorization: `Basic ${Buffer.from(`${service.id}:${service.secret}`).toString('base64')}`,
    };
    const answer = await expectStatus(
      200,
      fetch(`${url}/oauth/token`, { method: 'POST', headers, body: new URLSearchParams(form) }),
    );
    return (JSON.parse(answer) as { readonly access_token: string }).access_token;
  };
  const [forTools, forOrders] = [await tokenOf('mcp:service'), await tokenOf('orders:read')];
  const call = newer('tools/call', { name: 'mine', arguments: {} });
  const refused = async (status: number, words: string, asked: Promise<Response>) => {
    const response = await asked;
    const challenge = response.headers.get('www-authenticate') ?? '';
    await expectStatus(status, asked);
    if (!challenge.includes('resource_metadata=') || !challenge.includes(words))
      throw new Error(`${status} ${challenge}`);
  };
  const orders = (headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}/api/orders`, { headers });
  const mcp = ({ headers, body }: Sent, more: Readonly<Record<string, string>> = {}) =>
    fetch(resource, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
        ...more,
      },
    });
  const unknown = bearer('x'.repeat(43));
  const once = async () => {
    await refused(401, 'scope="orders:read"', orders());
    await refused(401, 'invalid_token', orders(unknown));
    await refused(403, 'insufficient_scope', orders(bearer(forTools)));
    await refused(401, 'scope=', mcp(older('tools/list')));
    await refused(401, 'invalid_token', mcp(call, unknown));
    await refused(403, 'insufficient_scope', mcp(call, bearer(forOrders)));
    // A personal tool needs an account, so this call fails.
    await refused(401, 'scope=', mcp(call, bearer(forTools)));
  };
  return inBatches(BATCH, once);
}

/**
 * Refreshes in rounds: a first use, a repetition with the same response, a use of the next token,
 * and a replay, which ends the authorization.
 */
async function refresh({ url, native }: Soaked, { advance }: Steering): Promise<Path> {
  const visitor = createVisitor(url);
  const token = (form: Readonly<Record<string, string>>) =>
    fetch(`${url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: native, ...form }),
    });
  const tokensOf = async (form: Readonly<Record<string, string>>) =>
    JSON.parse(await expectStatus(200, token(form))) as Readonly<
      Record<'access_token' | 'refresh_token', string>
    >;
  const use = ({ refresh_token }: { readonly refresh_token: string }) => ({
    grant_type: 'refresh_token',
    refresh_token,
  });
  const once = async (number: number) => {
    const consent = await consentOf(visitor, requestOf(url, native));
    const back = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const code = back.searchParams.get('code') ?? '';
    const first = await tokensOf({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    const second = await tokensOf(use(first));
    const again = await tokensOf(use(first));
    if (again.refresh_token !== second.refresh_token) throw new Error('Another token was given');
    if (number % 2 === 0) await tokensOf(use(second));
    else await advance(61);
    await expectStatus(400, token(use(first)));
    await expectStatus(400, token(use(second)));
  };
  return inBatches(1, once);
}

/**
 * Uses a client that signs. Its request is pushed and allowed, and its code is exchanged, each with
 * an assertion and a proof. Its token works with a proof, and is rejected without a proof and with
 * a used proof. Then the token is refreshed, introspected and revoked.
 */
async function signing(
  { url, json: { resource }, signer }: Soaked,
  { advance }: Steering,
): Promise<Path> {
  const { id } = signer;
  const privateKey = createPrivateKey(signer.key);
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  const key: ClientKey = { algorithm: 'ES256', privateKey, kid: 'soak', jwk };
  const visitor = createVisitor(url);
  let now = 0;
  const iat = () => ({ iat: Math.floor(now / 1000) });
  const proof = (method: string, at: string, token: string | null = null) =>
    proofFor(key, method, at, token, iat());
  const post = (path: string, form: Readonly<Record<string, string>>) => {
    const assertion = signed(key, headerOf(key), claimsOf(id, url, now));
    return fetch(`${url}${path}`, {
      method: 'POST',
      headers: { DPoP: proof('POST', `${url}${path}`) },
      body: new URLSearchParams({ ...withAssertion(assertion), ...form }),
    });
  };
  const tokensOf = async (form: Readonly<Record<string, string>>) =>
    JSON.parse(await expectStatus(200, post('/oauth/token', form))) as Readonly<
      Record<'access_token' | 'refresh_token', string>
    >;
  const once = async () => {
    now = Date.now() + (await advance(120));
    const asked = Object.fromEntries(new URL(requestOf(url, id)).searchParams);
    const pushed = JSON.parse(
      await expectStatus(201, post('/oauth/par', { ...asked, nonce: randomUUID() })),
    );
    const reference = new URLSearchParams({
      client_id: id,
      request_uri: (pushed as { readonly request_uri: string }).request_uri,
    });
    const consent = await consentOf(visitor, `${url}/oauth/authorize?${reference}`);
    const back = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const tokens = await tokensOf({
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    const { access_token: token } = tokens;
    const api = `${url}/api/orders`;
    const bound = { Authorization: `DPoP ${token}`, DPoP: proof('GET', api, token) };
    await expectStatus(200, fetch(api, { headers: bound }));
    await expectStatus(401, fetch(api, { headers: bound }));
    await expectStatus(401, fetch(api, { headers: bearer(token) }));
    const { headers, body } = older('ping');
    const sent = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    };
    const proved = { ...sent, ...bound, DPoP: proof('POST', resource, token) };
    // The token is valid, but lacks the scope for this.
    await expectStatus(403, fetch(resource, { method: 'POST', headers: proved, body }));
    const foreign = {
      ...bound,
      DPoP: proofFor(key, 'GET', api, token, { ...iat(), ath: hashOf('another') }),
    };
    await expectStatus(401, fetch(api, { headers: foreign }));
    const next = await tokensOf({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
    });
    await expectStatus(200, post('/oauth/revoke', { token: next.refresh_token }));
  };
  return inBatches(1, once);
}

/**
 * Uses a device: gets codes, polls too early, enters a wrong code, answers, gets tokens, uses the
 * code a second time, and ends the access.
 */
async function devices({ url, device: id }: Soaked, { advance }: Steering): Promise<Path> {
  const visitor = createVisitor(url);
  const grant = 'urn:ietf:params:oauth:grant-type:device_code';
  const post = (path: string, form: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams({ client_id: id, ...form });
    return fetch(`${url}${path}`, { method: 'POST', body });
  };
  const once = async () => {
    // Move the clock far enough that the limit for wrong codes does not matter.
    await advance(120);
    const begun = await expectStatus(
      200,
      post('/oauth/device_authorization', { scope: 'orders:read' }),
    );
    const { device_code, user_code } = JSON.parse(begun) as Readonly<
      Record<'device_code' | 'user_code', string>
    >;
    const asks = () => post('/oauth/token', { grant_type: grant, device_code });
    for (let early = 0; early < 2; early += 1) await expectStatus(400, asks());
    const page = await visitSignedIn(visitor, `${url}/oauth/device`);
    await expectStatus(400, visitor.submit(page, { user_code: 'BBB-BBB-BBB' }));
    const asked = await visitor.submit(page, { user_code });
    await expectStatus(200, visitor.submit(asked, { decision: 'allow' }));
    const { refresh_token: token } = JSON.parse(await expectStatus(200, asks())) as {
      readonly refresh_token: string;
    };
    await expectStatus(400, asks());
    await expectStatus(200, post('/oauth/revoke', { token }));
  };
  return inBatches(1, once);
}

/**
 * Asks a person to sign out. The person first stays signed in and then signs out. The request
 * contains an invalid hint.
 */
async function logout({ url }: Soaked): Promise<Path> {
  const visitor = createVisitor(url);
  const once = async (number: number) => {
    const hint = number % 2 === 0 ? '' : '?id_token_hint=a.b.c';
    await visitSignedIn(visitor, `${url}/oauth/applications`);
    const page = await visitor.visit(`${url}/oauth/logout${hint}`);
    await expectStatus(200, visitor.submit(page, { decision: 'stay' }));
    await expectStatus(400, visitor.get(`${url}/oauth/logout?client_id=unknown`));
    await expectStatus(200, visitor.submit(page, { decision: 'logout' }));
    await expectStatus(200, visitor.get(`${url}/oauth/logout`));
  };
  return inBatches(1, once);
}

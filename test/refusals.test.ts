import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  obtainCode,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal);
});
afterAll(() => portal.close());

type Line = Readonly<Record<string, unknown>>;

/** What the log says of the request that this is the answer to. */
async function linesOf(response: Response): Promise<readonly Line[]> {
  const log = await readFile(`${portal.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8').catch(() => '');
  const id = response.headers.get('x-request-id');
  expect(id).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line['requestId'] === id);
}

describe('the id of a request', () => {
  test('is the one that came with it, when that is a plain word', async () => {
    const response = await fetch(`${portal.url}/.well-known/jwks.json`, {
      headers: { 'X-Request-Id': 'edge-7.a_B' },
    });
    expect(response.headers.get('x-request-id')).toBe('edge-7.a_B');
  });

  test.each(['two words', 'a"quote', '', 'x'.repeat(129), 'é'])('is another one for %j', async (sent) => {
    const response = await fetch(`${portal.url}/oauth/userinfo`, { headers: { 'X-Request-Id': sent } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['GET', '/.well-known/openid-configuration', 200],
    ['OPTIONS', '/oauth/token', 204],
    ['POST', '/oauth/token', 400],
    ['GET', '/oauth/token', 405],
    ['GET', '/oauth/userinfo', 401],
    ['GET', '/oauth/authorize', 400],
    ['GET', '/nowhere', 404],
    ['GET', '/api/notes', 401],
    ['POST', '/login', 403],
    ['HEAD', '/login', 200],
  ])('stands in the answer to %s %s, %i', async (method, path, status) => {
    const headers = { 'X-Request-Id': 'the-one' };
    const response = await fetch(`${portal.url}${path}`, { method, headers });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toBe('the-one');
  });

  test('stands in a redirect, and in a 304', async () => {
    const visitor = await portal.signedIn(ADA);
    const redirect = await visitor.get(authorizationUrl(portal, client, { scope: 'nothing' }));
    expect(redirect.status).toBe(302);
    expect(redirect.headers.get('x-request-id')).not.toBeNull();
    const url = `${portal.url}/.well-known/jwks.json`;
    const etag = (await fetch(url)).headers.get('etag') ?? '';
    const unchanged = await fetch(url, { headers: { 'If-None-Match': etag, 'X-Request-Id': 'again' } });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('x-request-id')).toBe('again');
  });

  test('stands on an error page, for whoever asks for help', async () => {
    const page = await fetch(authorizationUrl(portal, { id: 'unknown', secret: '' }));
    const id = page.headers.get('x-request-id') ?? '';
    expect(await page.text()).toContain(`Request id: <code>${id}</code>`);
  });
});

describe('a refusal leaves one line in the log', () => {
  test('with the request, the endpoint, the error, the client and the address', async () => {
    const response = await refresh(portal, client, 'no-such-token');
    expect(response.status).toBe(400);
    expect(await linesOf(response)).toEqual([
      expect.objectContaining({
        level: 'info',
        endpoint: 'oauth_server_token',
        error: 'invalid_grant',
        clientId: client.id,
        address: '127.0.0.1',
      }),
    ]);
  });

  test('without a stack, and none for what succeeds', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    const granted = await exchangeCode(portal, client, code);
    expect(granted.status).toBe(200);
    expect(await linesOf(granted)).toEqual([]);
    const [line] = await linesOf(await exchangeCode(portal, client, code));
    expect(line?.['message']).not.toContain('\n');
  });

  test('of a route that token() protects too', async () => {
    const [line, ...more] = await linesOf(await callApi(portal, '/api/notes', 'no-such-token'));
    expect(more).toEqual([]);
    expect(line).toMatchObject({ endpoint: 'token()', error: 'invalid_token', address: '127.0.0.1' });
  });
});

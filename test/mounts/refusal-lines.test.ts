// @engines sqlite: the server refuses these requests before it uses the store, and log lines are the same on every engine
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MOUNTS, type RunningMount } from '../support/mounts.ts';
import { NEST } from '../support/mounts/nest.ts';
import { waysOf } from '../support/scale.ts';

const ALL = waysOf([...MOUNTS, ...NEST]);

const form = (fields: Readonly<Record<string, string>>): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams(fields),
});
const json = (value: unknown, more: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...more,
  },
  body: JSON.stringify(value),
});
const bearer = (token: string): RequestInit => ({ headers: { Authorization: `Bearer ${token}` } });
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** The rejected requests: each with the endpoint that the log names, and the status. */
const REFUSED: readonly (readonly [
  endpoint: string,
  status: number,
  path: string,
  init?: RequestInit,
])[] = [
  ['oauth_server_authorize', 400, '/oauth/authorize?client_id=unknown'],
  ['oauth_server_authorize', 405, '/oauth/authorize', { method: 'PUT' }],
  ['oauth_server_consent', 400, '/oauth/authorize', form({ answer: 'allow' })],
  ['oauth_server_par', 401, '/oauth/par', form({ client_id: 'unknown' })],
  ['oauth_server_par', 405, '/oauth/par'],
  [
    'oauth_server_token',
    401,
    '/oauth/token',
    form({ grant_type: 'refresh_token', client_id: 'unknown' }),
  ],
  ['oauth_server_token', 405, '/oauth/token'],
  ['oauth_server_revoke', 401, '/oauth/revoke', form({ token: 'unknown' })],
  ['oauth_server_introspect', 401, '/oauth/introspect', form({ token: 'unknown' })],
  ['oauth_server_userinfo', 401, '/oauth/userinfo', bearer('unknown')],
  ['oauth_server_userinfo', 401, '/oauth/userinfo', form({ access_token: 'unknown' })],
  ['oauth_server_applications', 405, '/oauth/applications', { method: 'DELETE' }],
  ['oauth_server_register', 400, '/oauth/register', json({ redirect_uris: 7 })],
  ['oauth_server_register', 401, '/oauth/register?client_id=unknown', bearer('unknown')],
  ['oauth_server_openid_configuration', 405, '/.well-known/openid-configuration', form({})],
  ['oauth_server_metadata', 405, '/.well-known/oauth-authorization-server', form({})],
  ['oauth_server_jwks', 405, '/.well-known/jwks.json', form({})],
  ['oauth_server_live', 405, '/health/live', form({})],
  ['oauth_server_ready', 405, '/health/ready', form({})],
  ['token()', 401, '/mcp', json(PING)],
  ['mcp_server_rpc', 403, '/mcp', json(PING, { Origin: 'https://evil.example' })],
  ['mcp_server_stream', 405, '/mcp'],
  ['token()', 401, '/api/orders', bearer('unknown')],
];

describe.each(ALL)('refusals on $name', (mount) => {
  let running: RunningMount;
  beforeAll(async () => {
    running = await mount.start({
      oauth_server: { health: true, registration: 'open', pushed_authorization_requests: 'accept' },
    });
  });
  afterAll(() => running.close());

  // @shows AS-19.4, AS-29.7, AS-29.8
  test('are logged in one line each, with the request ID, the endpoint and the reason', async () => {
    const answered = await Promise.all(
      REFUSED.map(async ([endpoint, status, path, init], index) => {
        const headers = new Headers(init?.headers);
        headers.set('X-Request-Id', `asked-${index}`);
        const response = await fetch(running.url + path, { redirect: 'manual', ...init, headers });
        return [`asked-${index}`, `${endpoint} ${path}`, response.status, status];
      }),
    );
    expect(answered.map(([, what, got]) => [what, got])).toEqual(
      answered.map(([, what, , status]) => [what, status]),
    );
    const lines = (await running.log())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const found = REFUSED.map(([, , path], index) =>
      lines
        .filter(({ requestId }) => requestId === `asked-${index}`)
        .map(({ level, endpoint, detail }) => [path, level, endpoint, typeof detail]),
    );
    expect(found).toEqual(
      REFUSED.map(([endpoint, , path]) => [[path, 'info', endpoint, 'string']]),
    );
  });
});

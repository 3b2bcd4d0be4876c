// @engines sqlite: log lines are the same on every engine
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Event } from '@portico/kit';
import { AUDIT } from 'portico';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { MOUNTS, type RunningMount } from './support/mounts.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  obtainCode,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';
import { createRandom } from './support/random.ts';
import { SCALE } from './support/scale.ts';

type Line = Readonly<Record<string, unknown>>;

/** Parses each line. Throws if a line is not JSON or was written in two parts. */
const linesIn = (log: string): readonly Line[] =>
  log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

const logOf = (portal: RunningPortal) =>
  readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');

describe('every log line of a request has the request id', () => {
  // @shows AS-29.7
  test('in the kit: from hooks, events, handlers, warnings about claims, and methods', async () => {
    const portal = await startPortal({
      config: { oauth_server: { claims: () => ({ shoe_size: 41 }) } },
      routes: (application) => {
        const { events, log } = application;
        events.on(AUDIT, () => {
          log.info('a listener of the audit');
          throw new Error('the audit is full');
        });
        events.on(Event.EXCEPTION, () => log.info('a hook for exceptions'));
        events.on(Event.RESPONSE_HEADER, (response) => {
          log.info('a hook for responses', { requestId: null });
          return response;
        });
        return [
          {
            name: 'fails',
            path: '/fails',
            methods: ['GET'],
            async handler() {
              await setImmediate();
              log.info('a handler');
              throw new Error('it fails');
            },
          },
        ];
      },
    });
    onTestFinished(() => portal.close());
    const client = await registerClient(portal);
    // The event was not caused by a request, but happened in this process.
    const before = linesIn(await logOf(portal)).length;
    const tokens = await obtainTokens(portal, client, ADA);
    await callApi(portal, '/oauth/userinfo', tokens.access_token);
    const asked = (at: string, init: RequestInit = {}) =>
      fetch(portal.url + at, { ...init, headers: { 'X-Request-Id': 'the-one' } });
    await asked('/fails');
    await asked('/fails', { method: 'DELETE' });
    const lines = linesIn(await logOf(portal)).slice(before);
    const of = (text: string) => lines.filter(({ message }) => String(message).includes(text));
    for (const text of [
      'a listener of the audit',
      'a hook for responses',
      'shoe_size is dropped',
      'the audit is full',
    ]) {
      expect(of(text).length, text).toBeGreaterThan(0);
      for (const { requestId } of of(text)) expect(requestId, text).toEqual(expect.any(String));
    }
    for (const text of ['a handler', 'a hook for exceptions', 'The request failed'])
      expect(of(text).map(({ requestId }) => requestId)).toContain('the-one');
    expect(of('fails refused: 405')).toMatchObject([
      { requestId: 'the-one', route: 'fails', status: 405 },
    ]);
  });

  // @shows AS-29.7
  test.each(
    MOUNTS.filter(({ name }) =>
      ['portico/express', 'portico/fastify', 'portico/koa'].includes(name),
    ),
  )('on $name: two simultaneous requests each have their own id', async (mount) => {
    const running = await mount.start();
    onTestFinished(() => running.close());
    const ids = Array.from({ length: 20 }, (_, index) => `asked-${index}`);
    await Promise.all(
      ids.map((id) =>
        fetch(`${running.url}/oauth/token`, {
          method: 'POST',
          headers: { 'X-Request-Id': id },
          body: new URLSearchParams({
            grant_type: 'refresh_token',
            client_id: id,
            client_secret: 'wrong',
          }),
        }),
      ),
    );
    const lines = linesIn(await running.log()).filter(({ message }) =>
      String(message).startsWith('audit: client_'),
    );
    // An event has no request id. The code that writes the line adds it.
    expect(lines.map(({ requestId }) => String(requestId)).toSorted()).toEqual(ids.toSorted());
  });
});

// --- secrets
// --------------------------------------------------------------------------------------------------

let portal: RunningPortal;
let mounted: RunningMount;
let secrets: readonly (readonly [name: string, value: string])[];
const random = createRandom(19);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
const MADE_UP = 'c2VjcmV0LXRoYXQtc29tZWJvZHktbWlzcGxhY2VkLTE5LTE5';

beforeAll(async () => {
  const switched = {
    registration: 'open',
    pushed_authorization_requests: 'accept',
    dpop: 'accept',
    private_key_jwt: true,
    client_id_metadata_documents: { allowed_hosts: ['nowhere.invalid'] },
  };
  // Without this, the server would slow the requests down and return the same response to all.
  portal = await startPortal({ config: { oauth_server: switched }, random: () => 0 });
  const mount = MOUNTS.find(({ name }) => name === 'portico/node');
  if (mount === undefined) throw new Error('There is no mount portico/node');
  mounted = await mount.start({
    oauth_server: { ...switched, challenge: true },
    mcp: { oauth: { challenge: true } },
  });
  const client = await registerClient(portal);
  const visitor = await portal.signedIn(ADA);
  const tokens = await obtainTokens(portal, client, ADA);
  secrets = [
    ['a client secret', client.secret],
    ['a code', await obtainCode(portal, client, visitor)],
    ['an access token', tokens.access_token],
    ['a refresh token', tokens.refresh_token],
    ['an ID token', tokens.id_token],
    ['a session', visitor.cookies().split('=')[1] ?? ''],
    ['a text as long as a secret', MADE_UP],
  ];
});
afterAll(async () => {
  await portal.close();
  await mounted.close();
});

const NAMES = [
  'client_id',
  'client_secret',
  'code',
  'code_verifier',
  'code_challenge',
  'redirect_uri',
  'refresh_token',
  'access_token',
  'token',
  'token_type_hint',
  'grant_type',
  'response_type',
  'scope',
  'resource',
  'state',
  'nonce',
  'prompt',
  'request',
  'request_uri',
  'client_assertion',
  'client_assertion_type',
  'identifier',
  'password',
  'return_to',
  'csrf_token',
  'answer',
  'a[b][c]',
];
const PATHS = [
  '/oauth/authorize',
  '/oauth/token',
  '/oauth/par',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/userinfo',
  '/oauth/applications',
  '/oauth/register',
  '/.well-known/jwks.json',
  '/health/ready',
  '/login',
  '/logout',
  '/mcp',
  '/api/notes',
  '/api/orders',
  '/nowhere',
];
const METHODS = ['GET', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'];
/** The places into which a secret may be pasted by mistake, with the text around it. */
const AROUND: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `https://app.example/cb?code=${secret}`,
  (secret) => `https://${secret}@app.example/`,
  (secret) => `https://app.example/${secret}#${secret}`,
  (secret) => `https://${secret}.example/client`,
  (secret) => `Bearer ${secret}`,
  (secret) => `${secret} ${secret}`,
  (secret) => `openid ${secret}`,
  (secret) => `x\n{"level":"error","message":"${secret}"}`,
  (secret) => `\u{1b}[31m${secret}\u{202e}\u{2028}\0`,
  (secret) => `{exception}${secret}`,
  (secret) => `${secret.slice(0, 20)}\r\n${secret.slice(20)}${secret}`,
  (secret) => 'x'.repeat(150) + secret,
];
const HEADERS = [
  'Authorization',
  'DPoP',
  'Cookie',
  'Referer',
  'Origin',
  'User-Agent',
  'X-Forwarded-For',
  'Accept',
  'Content-Type',
  'Mcp-Session-Id',
  'MCP-Protocol-Version',
];

/** The characters that a header may contain. */
const asHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '');

function headersWith(planted: () => string): Headers {
  const headers = new Headers();
  for (let left = Math.floor(random() * 3); left > 0; left -= 1)
    headers.set(pick(HEADERS), asHeader(planted()));
  if (random() < 0.3) {
    const basic = btoa(asHeader(`${planted()}:${planted()}`));
    headers.set(
      'Authorization',
      pick([`Basic ${basic}`, `Bearer ${asHeader(planted())}`, `DPoP ${asHeader(planted())}`]),
    );
  }
  return headers;
}

function oddRequest(): readonly [path: string, init: RequestInit] {
  const planted = () => pick(AROUND)(pick(secrets)[1]);
  const pairs = () =>
    new URLSearchParams(
      Array.from({ length: Math.floor(random() * 6) }, () => [
        random() < 0.9 ? pick(NAMES) : planted(),
        planted(),
      ]),
    );
  const method = pick(METHODS);
  const headers = headersWith(planted);
  const below = random() < 0.1 ? `/${encodeURIComponent(planted())}` : '';
  const query = random() < 0.5 ? `?${pairs()}` : '';
  const bodies: readonly (() => [type: string, body: string])[] = [
    () => ['application/x-www-form-urlencoded', pairs().toString()],
    () => ['application/x-www-form-urlencoded', pairs().toString()],
    () => ['application/json', JSON.stringify(Object.fromEntries(pairs()))],
    () => [
      'application/json',
      JSON.stringify({
        redirect_uris: [planted()],
        client_name: planted(),
        jwks_uri: planted(),
        scope: planted(),
      }),
    ],
    () => [
      'application/json',
      JSON.stringify({
        jsonrpc: '2.0',
        id: planted(),
        method: pick(['tools/call', planted()]),
        params: { name: planted() },
      }),
    ],
    () => [asHeader(planted()), planted()],
  ];
  const withBody = !['GET', 'HEAD'].includes(method);
  const [type, body] = pick(bodies)();
  if (withBody && !headers.has('Content-Type')) headers.set('Content-Type', type);
  return [
    `${pick(PATHS)}${below}${query}`,
    { method, headers, redirect: 'manual', ...(withBody ? { body } : {}) },
  ];
}

describe('no line of the log', () => {
  // @shows AS-19.2, AS-29.9
  test('contains a secret sent in a wrong place, or is split by input', async () => {
    const said: string[] = [];
    const statuses = new Map<number, number>();
    for (let sent = 0; sent < SCALE.plantedSecrets; sent += 1) {
      const [at, init] = oddRequest();
      const { status } = await fetch(pick([portal.url, mounted.url]) + at, init);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    said.push(await logOf(portal), await mounted.log());
    // Check that the requests were not all rejected at the first check.
    for (const status of [400, 401, 403, 404, 405])
      expect(statuses.get(status), String(status)).toBeGreaterThan(0);
    const lines = said.flatMap((log) => linesIn(log));
    expect(lines.length).toBeGreaterThan(SCALE.plantedSecrets / 4);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
    for (const [name, secret] of secrets) {
      const pieces = [
        secret,
        encodeURIComponent(secret),
        ...secret.split('.').filter((part) => part.length > 40),
      ];
      const found = said.flatMap((log) =>
        log.split('\n').filter((line) => pieces.some((each) => line.includes(each))),
      );
      expect(found, name).toEqual([]);
    }
    for (const log of said) expect(log).not.toMatch(/[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n]]/v);
  });

  // @shows AS-29.9
  test('about a waiting request contains its state or nonce', async () => {
    const state = 'a-state-that-an-application-has-bound-to-its-session';
    const client = await registerClient(portal);
    await portal
      .visitor()
      .get(authorizationUrl(portal, client, { state, nonce: state, scope: 'nothing' }));
    expect(await logOf(portal)).not.toContain(state);
  });
});

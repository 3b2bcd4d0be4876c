// @engines sqlite, long: it tests the measurements of requests; telemetry-store.test.ts tests those of each engine
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { token, type Telemetry } from 'portico';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MOUNTS } from './support/mounts.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  obtainCode,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  VERIFIER,
  type PortalOptions,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE, waysOf } from './support/scale.ts';
import { carryContexts, record, type Recording, type Series } from './support/telemetry.ts';

beforeAll(carryContexts);

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function measured(
  options: PortalOptions = {},
): Promise<{ portal: RunningPortal; recording: Recording }> {
  const recording = record();
  const portal = await startPortal({ telemetry: recording.telemetry, ...options });
  opened.push(portal);
  return { portal, recording };
}

async function tokensOf(portal: RunningPortal, client: TestClient): Promise<Tokens> {
  const code = await obtainCode(portal, client, await portal.signedIn(ADA));
  return (await (await exchangeCode(portal, client, code)).json()) as Tokens;
}

const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId;
/** Characters that break lines, JSON and names. */
const ODD = '\u{1f600}\n"\\\0';
const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('a request', () => {
  // @shows AS-28.1
  test('is a span in the trace of the caller, with a child span for its grant and its store work', async () => {
    const { portal, recording } = await measured();
    const client = await registerClient(portal, {
      grants: ['client_credentials'],
      scopes: ['notes:read'],
      redirectUris: [],
    });
    recording.forgetSpans();
    const response = await fetch(`${portal.url}/oauth/token`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
        traceparent: CALLER,
      },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect(response.status).toBe(200);
    const spans = recording.spans();
    const [endpoint] = spans.filter(({ name }) => name === 'POST /oauth/token');
    const [grant] = spans.filter(({ name }) => name === 'grant client_credentials');
    const [find] = spans.filter(({ name }) => name === 'findClient');
    const [issue] = spans.filter(({ name }) => name === 'issueClientToken');
    if (!endpoint || !grant || !find || !issue)
      throw new Error(spans.map(({ name }) => name).join());
    expect([endpoint.kind, grant.kind, issue.kind]).toEqual([
      SpanKind.SERVER,
      SpanKind.INTERNAL,
      SpanKind.CLIENT,
    ]);
    expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(
      new Set(['4bf92f3577b34da6a3ce929d0e0e4736']),
    );
    expect(parentOf(endpoint)).toBe('00f067aa0ba902b7');
    expect(parentOf(find)).toBe(endpoint.spanContext().spanId);
    expect(parentOf(grant)).toBe(endpoint.spanContext().spanId);
    expect(parentOf(issue)).toBe(grant.spanContext().spanId);
    expect(endpoint.attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'http.route': '/oauth/token',
      'portico.endpoint': 'oauth_server_token',
      'url.path': '/oauth/token',
      'url.scheme': 'http',
    });
    expect(issue.attributes).toEqual({
      'db.operation.name': 'issueClientToken',
      'db.system.name': 'sqlite',
    });
  });

  test('is a child of the span that the host has for it', async () => {
    const { portal, recording } = await measured();
    const tracer = recording.tracerProvider.getTracer('host');
    const host = await tracer.startActiveSpan('host', async (span) => {
      await portal.application.fetch(new Request(`${portal.url}/.well-known/jwks.json`));
      span.end();
      return span.spanContext();
    });
    const [inner] = recording.spans().filter(({ name }) => name === 'GET /.well-known/jwks.json');
    expect([inner?.kind, inner && parentOf(inner), inner?.spanContext().traceId]).toEqual([
      SpanKind.INTERNAL,
      host.spanId,
      host.traceId,
    ]);
  });

  test('that calls token() has a look-up span, and its refusals are counted', async () => {
    const { portal, recording } = await measured({
      routes: () => [
        {
          name: 'traced',
          methods: ['GET'],
          path: '/traced',
          handler() {
            token().requireScope('notes:read');
            return new Response('');
          },
        },
      ],
    });
    expect((await fetch(`${portal.url}/traced`)).status).toBe(401);
    expect(
      (await fetch(`${portal.url}/traced`, { headers: { Authorization: 'Bearer wrong' } })).status,
    ).toBe(401);
    const of = (reason: string) =>
      recording.value('portico.refusals', {
        'portico.endpoint': 'token()',
        'portico.reason': reason,
      });
    expect([await of('missing_token'), await of('invalid_token')]).toEqual([1, 1]);
  });

  // @shows AS-28.2
  test('to any endpoint is measured by the name and path of the endpoint, its method and status', async () => {
    const { portal, recording } = await measured({
      config: { oauth_server: { registration: 'open', pushed_authorization_requests: 'accept' } },
    });
    const visitor = await portal.signedIn(ADA);
    for (const { path, methods } of portal.server.endpoints) {
      for (const method of [
        ...methods,
        ...(methods.some((each) => each === 'GET') ? ['HEAD'] : []),
      ]) {
        const body = method === 'POST' ? { body: new URLSearchParams() } : {};
        await fetch(`${portal.url}${path}?secret=planted`, { method, redirect: 'manual', ...body });
      }
    }
    expect((await visitor.get('/oauth/applications')).status).toBe(200);
    const series = (await recording.series()).filter(
      ({ metric }) => metric === 'http.server.request.duration',
    );
    const seen = new Set(
      series.map(
        ({ attributes }) =>
          `${String(attributes['portico.endpoint'])} ${String(attributes['http.request.method'])}`,
      ),
    );
    for (const { name, methods, path } of portal.server.endpoints) {
      for (const method of methods) expect(seen).toContain(`${name} ${method}`);
      expect(series.map(({ attributes }) => attributes['http.route'])).toContain(path);
    }
    for (const { attributes, unit } of series) {
      expect(unit).toBe('s');
      expect(attributes['url.scheme']).toBe('http');
      expect(attributes['http.response.status_code']).toBeTypeOf('number');
    }
    expect(await recording.everything()).not.toContain('planted');
  });

  // @shows AS-28.1
  test.each(waysOf(MOUNTS))('in $name is measured the same way', async (mount) => {
    const recording = record();
    const running = await mount.start({}, { telemetry: recording.telemetry });
    opened.push(running);
    const client = await running.register({
      name: 'A',
      grants: ['client_credentials'],
      scopes: ['orders:read'],
      redirectUris: [],
    });
    recording.forgetSpans();
    const form = {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.secret,
    };
    const response = await fetch(`${running.url}/oauth/token`, {
      method: 'POST',
      headers: { traceparent: CALLER },
      body: new URLSearchParams(form),
    });
    expect(response.status).toBe(200);
    const { access_token } = (await response.json()) as Tokens;
    const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' };
    await fetch(`${running.url}/mcp`, {
      method: 'POST',
      headers,
      body: '{"jsonrpc":"2.0","method":"ping","id":1}',
    });
    const [endpoint] = recording.spans().filter(({ name }) => name === 'POST /oauth/token');
    expect(endpoint?.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    const grants = recording.spans().filter(({ name }) => name === 'grant client_credentials');
    expect(grants.map(parentOf)).toEqual([endpoint?.spanContext().spanId]);
    expect(
      await recording.value('http.server.request.duration', {
        'http.route': '/oauth/token',
        'http.response.status_code': 200,
      }),
    ).toBe(1);
    expect(
      await recording.value('http.server.request.duration', {
        'portico.endpoint': 'mcp_server_rpc',
      }),
    ).toBe(1);
    expect(await recording.value('portico.tokens.issued')).toBe(1);
    expect((await recording.everything()).includes(access_token)).toBe(false);
  });
});

describe('the telemetry counters', () => {
  // @shows AS-28.3
  test('count tokens by grant type and kind, replays, and refusals by reason', async () => {
    const { portal, recording } = await measured();
    const client = await registerClient(portal, {
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    const visitor = await portal.signedIn(ADA);
    const code = await obtainCode(portal, client, visitor);
    const first = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    const second = (await (await refresh(portal, client, first.refresh_token)).json()) as Tokens;
    expect((await requestToken(portal, client, { grant_type: 'client_credentials' })).status).toBe(
      200,
    );
    const issued = (grant: string, kind: string) =>
      recording.value('portico.tokens.issued', {
        'portico.grant_type': grant,
        'portico.token_kind': kind,
      });
    for (const grant of ['authorization_code', 'refresh_token']) {
      for (const kind of ['access_token', 'refresh_token', 'id_token'])
        expect(await issued(grant, kind)).toBe(1);
    }
    expect(await issued('client_credentials', 'access_token')).toBe(1);
    expect(await recording.value('portico.tokens.issued')).toBe(7);
    expect(await recording.value('portico.grant.duration')).toBe(3);

    const plain = await registerClient(portal, { grants: ['authorization_code'] });
    const narrow = await obtainCode(portal, plain, visitor, { scope: 'notes:read' });
    expect((await exchangeCode(portal, plain, narrow)).status).toBe(200);
    expect(await issued('authorization_code', 'access_token')).toBe(2);
    expect(await recording.value('portico.tokens.issued')).toBe(8);

    expect((await refresh(portal, client, first.refresh_token)).status).toBe(400);
    expect((await refresh(portal, client, second.refresh_token)).status).toBe(400);
    const other = await obtainCode(portal, client, visitor);
    await exchangeCode(portal, client, other);
    expect((await exchangeCode(portal, client, other)).status).toBe(400);
    expect(await recording.value('portico.replays', { 'portico.replayed': 'refresh_token' })).toBe(
      1,
    );
    expect(await recording.value('portico.replays', { 'portico.replayed': 'code' })).toBe(1);

    expect(
      (await requestToken(portal, { ...client, secret: 'wrong' }, { grant_type: 'refresh_token' }))
        .status,
    ).toBe(401);
    expect((await requestToken(portal, client, { grant_type: 'sung' })).status).toBe(400);
    const stranger = { id: 'unknown', secret: '' };
    expect((await fetch(authorizationUrl(portal, stranger))).status).toBe(400);
    await fetch(authorizationUrl(portal, client, { scope: 'unknown:scope' }), {
      redirect: 'manual',
    });
    const refused = (endpoint: string, reason: string) =>
      recording.value('portico.refusals', {
        'portico.endpoint': endpoint,
        'portico.reason': reason,
      });
    expect(await refused('oauth_server_token', 'invalid_grant')).toBe(3);
    expect(await refused('oauth_server_token', 'invalid_client')).toBe(1);
    expect(await refused('oauth_server_token', 'unsupported_grant_type')).toBe(1);
    expect(await refused('oauth_server_authorize', 'not_redirected')).toBe(1);
    expect(await refused('oauth_server_authorize', 'invalid_scope')).toBe(1);
    expect(await recording.value('portico.grant.duration', { 'error.type': 'invalid_grant' })).toBe(
      3,
    );
  });

  // @shows AS-28.3
  test('count 429 and 503 responses', async () => {
    let isAway = false;
    const { portal, recording } = await measured({
      random: () => 0.999,
      passwordHasher: {
        hash: async (password) => password,
        async verify(password, hash) {
          if (isAway)
            throw Object.assign(new Error('too many'), { code: 'PORTICO_OVERLOADED', status: 503 });
          return password === hash;
        },
      },
    });
    const client = await registerClient(portal);
    let last = 401;
    for (let tries = 0; tries < 200 && last !== 429; tries += 1)
      last = (
        await requestToken(
          portal,
          { ...client, secret: `wrong${tries}` },
          { grant_type: 'refresh_token' },
        )
      ).status;
    expect(last).toBe(429);
    const of = { 'portico.endpoint': 'oauth_server_token' };
    expect(await recording.value('portico.requests.throttled', of)).toBe(1);
    isAway = true;
    const fresh = await registerClient(portal);
    const wrong = { ...fresh, secret: 'another' };
    expect((await requestToken(portal, wrong, { grant_type: 'refresh_token' })).status).toBe(503);
    expect(await recording.value('portico.requests.unavailable', of)).toBe(1);
  });

  // @shows AS-28.4
  test('have no more series after thousands of hostile requests than after the first of each kind', async () => {
    const { portal, recording } = await measured({ config: { log: { level: 'error' } } });
    const client = await registerClient(portal, {
      grants: ['client_credentials'],
      redirectUris: [],
      scopes: ['notes:read'],
    });
    const send = async (odd: string) => {
      const header = encodeURIComponent(odd);
      const at = (path: string, init: RequestInit = {}) =>
        portal.application.fetch(new Request(`${portal.url}${path}`, init));
      const form = new URLSearchParams({
        grant_type: odd,
        client_id: odd,
        client_secret: odd,
        code: odd,
        scope: odd,
      });
      const sent = await Promise.all([
        at('/oauth/token', { method: 'POST', body: form }),
        at('/oauth/token', {
          method: 'POST',
          headers: {
            Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
          },
          body: new URLSearchParams({ grant_type: odd, scope: odd }),
        }),
        at(
          `/oauth/authorize?client_id=${header}&redirect_uri=${header}&scope=${header}&error=${header}`,
        ),
        at('/oauth/userinfo', {
          headers: { Authorization: `Bearer ${header}`, traceparent: header },
        }),
        at('/oauth/introspect', { method: 'POST', body: form }),
        at('/oauth/revoke', { method: 'POST', body: form, headers: { 'X-Request-Id': header } }),
        at(`/oauth/${header}`, { method: 'POST', body: form }),
        at('/.well-known/jwks.json', {
          method: `X${header.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 20)}`,
        }),
      ]);
      for (const response of sent) await response.arrayBuffer();
    };
    // Until the guesses are slowed down, too.
    for (let index = 0; index < 20; index += 1)
      await send(`first-${index}-${ODD.repeat(index % 5)}`);
    const kinds = (all: readonly Series[]) =>
      all.map(({ metric, attributes }) => `${metric} ${JSON.stringify(attributes)}`).toSorted();
    const before = kinds(await recording.series());
    recording.forgetSpans();
    for (let index = 0; index < SCALE.hostileMeasured; index += 1) {
      await send(`odd-${index}-${ODD.repeat(index % 5)}`);
      recording.forgetSpans();
    }
    expect(kinds(await recording.series())).toEqual(before);
  });

  // @shows AS-28.4
  test('have series only for standard methods, even if a host uses a different one', async () => {
    const { portal, recording } = await measured({ config: { log: { level: 'error' } } });
    const call = async (method: string) => {
      for (const { path, handle } of portal.server.endpoints) {
        const response = await handle(new Request(`${portal.url}${path}`, { method }));
        await response.arrayBuffer();
      }
    };
    const known = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];
    for (const method of known) await call(method);
    for (const method of ['PROPFIND', 'get', 'Patch', 'XMADEUP', 'X1', 'X2']) await call(method);
    const requests = (await recording.series()).filter(
      ({ metric }) => metric === 'http.server.request.duration',
    );
    const methods = requests.map(({ attributes }) => attributes['http.request.method']);
    expect(new Set(methods)).toEqual(new Set([...known, '_OTHER']));
    for (const { name, attributes } of recording.spans()) {
      const method = attributes['http.request.method'];
      expect([...known, '_OTHER', undefined]).toContain(method);
      expect(name).not.toMatch(/PROPFIND|XMADEUP|X1|X2|Patch/);
    }
    const { length } = requests;
    for (let index = 0; index < 20; index += 1) await call(`MADE${index}`);
    expect(
      (await recording.series()).filter(({ metric }) => metric === 'http.server.request.duration'),
    ).toHaveLength(length);
  });

  // @shows AS-28.2
  test('count a failed endpoint as a fault, neither throttled nor unavailable', async () => {
    const { portal, recording } = await measured();
    await portal.server.prune();
    const applications = portal.server.endpoints.find(({ path }) => path === '/oauth/applications');
    // Outside of the kit, the signed-in person is unknown.
    const response = await applications?.handle(
      new Request('https://portal.example/oauth/applications'),
    );
    expect(response?.status).toBe(500);
    const all = await recording.series();
    const [request] = all.filter(({ metric }) => metric === 'http.server.request.duration');
    expect(request?.attributes).toMatchObject({
      'url.scheme': 'https',
      'http.response.status_code': 500,
      'error.type': '500',
    });
    const metrics = new Set(all.map(({ metric }) => metric));
    for (const name of ['requests.throttled', 'requests.unavailable', 'store.rows.removed'])
      expect(metrics).not.toContain(`portico.${name}`);
    const [span] = recording.spans().filter(({ name }) => name === 'GET /oauth/applications');
    expect(span?.status.code).toBe(SpanStatusCode.ERROR);
  });

  // @shows AS-28.2
  test('count an endpoint without a response as a fault, without a status', async () => {
    const recording = record();
    const task = { kind: 'endpoint', name: 'gone', route: '/gone' } as const;
    recording.telemetry.begin(task, new Request('https://portal.example/gone')).end('fault', 0);
    const [request] = await recording.series();
    expect(request).toMatchObject({ metric: 'http.server.request.duration', value: 1 });
    expect(request?.attributes).toEqual({
      'portico.endpoint': 'gone',
      'http.route': '/gone',
      'http.request.method': 'GET',
      'url.scheme': 'https',
      'error.type': 'fault',
    });
  });

  // @shows AS-28.4
  test('have only the listed values, with any input', async () => {
    const { portal, recording } = await measured({
      config: {
        log: { level: 'error' },
        oauth_server: {
          registration: 'open',
          pushed_authorization_requests: 'accept',
          dpop: 'accept',
        },
      },
    });
    const odd = (index: number) => `odd${index}`;
    for (let index = 0; index < 3; index += 1) {
      const value = odd(index);
      const form = Object.fromEntries(
        [
          'grant_type',
          'client_id',
          'client_secret',
          'client_assertion_type',
          'client_assertion',
          'scope',
          'resource',
          'token',
          'token_type_hint',
          'error',
          'response_type',
          'prompt',
        ].map((name) => [name, value]),
      );
      const headers = { DPoP: value, 'User-Agent': value, Host: value, 'X-Forwarded-Proto': value };
      for (const { path, methods } of portal.server.endpoints) {
        for (const method of methods) {
          const body = method === 'POST' ? { body: new URLSearchParams(form) } : {};
          const url = `${portal.url}${path}?${new URLSearchParams(form)}`;
          const response = await portal.application.fetch(
            new Request(url, { method, headers, ...body }),
          );
          await response.arrayBuffer();
        }
      }
      const registration = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
      await portal.application.fetch(
        new Request(`${portal.url}/oauth/register`, {
          ...registration,
          body: JSON.stringify({
            redirect_uris: ['https://a.example/'],
            scope: value,
            grant_types: [value],
          }),
        }),
      );
    }
    const labels = (await recording.series()).flatMap(({ attributes }) =>
      Object.values(attributes),
    );
    expect(labels.length).toBeGreaterThan(50);
    for (const label of labels) expect(String(label)).not.toContain('odd');
  });
});

// @shows AS-28.5
test('no telemetry export contains a secret, a token, a code or a cookie', async () => {
  const { portal, recording } = await measured();
  const client = await registerClient(portal, {
    grants: ['authorization_code', 'refresh_token', 'introspection'],
  });
  const visitor = await portal.signedIn(ADA);
  const code = await obtainCode(portal, client, visitor);
  const first = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
  const second = (await (await refresh(portal, client, first.refresh_token)).json()) as Tokens;
  const bearer = { Authorization: `Bearer ${second.access_token}` };
  expect((await fetch(`${portal.url}/oauth/userinfo`, { headers: bearer })).status).toBe(200);
  const basic = {
    Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
  };
  for (const path of ['introspect', 'revoke']) {
    const body = new URLSearchParams({ token: second.access_token });
    expect(
      (await fetch(`${portal.url}/oauth/${path}`, { method: 'POST', headers: basic, body })).status,
    ).toBe(200);
  }
  await refresh(portal, client, first.refresh_token);
  const exported = await recording.everything();
  const bearable = [
    code,
    client.secret,
    VERIFIER,
    basic.Authorization.slice(6),
    'the-state',
    'the-nonce',
  ];
  for (const { access_token, refresh_token, id_token } of [first, second])
    bearable.push(access_token, refresh_token, id_token);
  const cookies = visitor
    .cookies()
    .split('; ')
    .map((cookie) => cookie.replace(/^[^=]*=/, ''));
  expect(cookies.length).toBeGreaterThan(0);
  expect(exported).toContain('rotateRefreshToken');
  for (const secret of [...bearable, ...cookies]) {
    expect(secret.length).toBeGreaterThan(5);
    expect(exported.includes(secret), secret).toBe(false);
  }
});

describe('broken telemetry changes no response', () => {
  const never = new Promise<never>(() => {});
  const boom = () => {
    throw new Error('telemetry broke');
  };
  const rejecting = async () => {
    throw new Error('telemetry broke');
  };
  const every = (broken: () => unknown): Telemetry =>
    new Proxy({}, { get: () => broken }) as Telemetry;
  const withTask = (
    run: (work: () => unknown) => unknown,
    end: () => unknown = () => {},
  ): Telemetry =>
    new Proxy(
      {},
      { get: (_, name) => (name === 'begin' ? () => ({ run, end }) : () => {}) },
    ) as Telemetry;

  // @shows AS-28.6
  test.each<[string, Telemetry]>([
    ['throws wherever it is called', every(boom)],
    ['rejects wherever it is called', every(rejecting)],
    ['never answers', every(() => never)],
    ['returns nothing', every(() => undefined)],
    [
      'returns an object whose properties throw',
      every(() => new Proxy({}, { has: boom, get: boom })),
    ],
    ['throws before the work', withTask(boom)],
    ['rejects before the work', withTask(rejecting)],
    ['never ends the work', withTask(() => never)],
    ['never runs the work', withTask(() => 'something else')],
    ['runs the work late', withTask((work) => Promise.resolve().then(work))],
    [
      'runs the work twice',
      withTask((work) => {
        void work();
        return work();
      }),
    ],
    [
      'runs the work and throws',
      withTask((work) => {
        void work();
        return boom();
      }),
    ],
    ['throws after the work', withTask((work) => work(), boom)],
    ['rejects after the work', withTask((work) => work(), rejecting)],
  ])('if it %s', async (_, telemetry) => {
    const portal = await startPortal({ telemetry });
    opened.push(portal);
    const client = await registerClient(portal);
    const first = await tokensOf(portal, client);
    const second = await refresh(portal, client, first.refresh_token);
    expect(second.status).toBe(200);
    const { access_token } = (await second.json()) as Tokens;
    const headers = { Authorization: `Bearer ${access_token}` };
    expect((await fetch(`${portal.url}/oauth/userinfo`, { headers })).status).toBe(200);
    // Each step took place once: the earlier token is spent, and its second use ends the
    // authorization.
    expect((await refresh(portal, client, first.refresh_token)).status).toBe(400);
    expect((await fetch(`${portal.url}/oauth/userinfo`, { headers })).status).toBe(401);
  });
});

// @shows AS-28.3
test('no connections are reported for SQLite', async () => {
  const { portal, recording } = await measured();
  expect(portal.application.database.connections()).toBe(null);
  const told = (await recording.series()).map(({ metric }) => metric);
  expect(told).toContain('portico.clients');
  expect(told.filter((metric) => metric.startsWith('db.client.connection'))).toEqual([]);
});

test('without telemetry no span is started for a request', async () => {
  const portal = await startPortal();
  opened.push(portal);
  expect(portal.server.measuring).toBe(null);
  expect(trace.getActiveSpan()).toBe(undefined);
});

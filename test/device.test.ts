// @engines all: the store contains the requests of devices, and ends them
import path from 'node:path';
import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  begin,
  decide,
  DEVICE_GRANT,
  DEVICES,
  enter,
  poll,
  registerDevice,
  requestCodes,
  tokensOf,
} from './support/device.ts';
import { newDpopKey, requestWithProof, tokenProof } from './support/dpop.ts';
import {
  ADA,
  callApi,
  errorOf,
  exchangeCode,
  GRACE,
  introspect,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { portico, porticoHere, ROOT } from './support/console.ts';
import { formOf, locationOf, type Visitor } from './support/visitor.ts';

/** The device authorization grant (RFC 8628). */

let portal: RunningPortal;
let tv: TestClient;
let ada: Visitor;
/** How far the server's clock is ahead, in milliseconds. */
let ahead = 0;
const events: AuditEvent[] = [];

beforeAll(async () => {
  portal = await startPortal({
    clock: () => Date.now() + ahead,
    config: { oauth_server: { ...DEVICES.oauth_server, dpop: 'accept', registration: 'open' } },
  });
  portal.application.events.on(AUDIT, (event: AuditEvent) => void events.push(event));
  tv = await registerDevice(portal);
});
afterAll(() => portal.close());
beforeEach(async () => {
  // No code of an earlier test is still waiting, and Ada is signed in again.
  pass(601);
  ada = await portal.signedIn(ADA);
  events.length = 0;
});

const pass = (seconds: number) => {
  ahead += seconds * 1000;
};
const textOf = async (response: Response) =>
  (await response.clone().text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const refusalOf = async (response: Response) => [response.status, await errorOf(response)];

describe('a device', () => {
  // @shows AS-48.1, AS-48.2, RFC8628-3.2, RFC8628-4
  test('gets codes, waits for the person, and then gets tokens once', async () => {
    const metadata = await fetch(`${portal.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({
      device_authorization_endpoint: `${portal.url}/oauth/device_authorization`,
      grant_types_supported: expect.arrayContaining([DEVICE_GRANT]) as unknown,
    });
    const response = await requestCodes(portal, tv, { scope: 'openid notes:read' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    const begun = (await response.clone().json()) as Awaited<ReturnType<typeof begin>>;
    expect(begun).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/) as string,
      user_code: expect.stringMatching(
        /^[B-DF-HJ-NP-TV-XZ]{3}(?:-[B-DF-HJ-NP-TV-XZ]{3}){2}$/,
      ) as string,
      verification_uri: `${portal.url}/oauth/device`,
      verification_uri_complete: `${portal.url}/oauth/device?user_code=${begun.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    expect(await refusalOf(await poll(portal, tv, begun))).toEqual([400, 'authorization_pending']);
    const done = await decide(ada, begun);
    expect([done.status, await textOf(done)]).toEqual([
      200,
      expect.stringContaining('Your device is connected'),
    ]);
    const tokens = await tokensOf(await poll(portal, tv, begun));
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'openid notes:read' });
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
    expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
    expect(tokens.id_token.split('.')).toHaveLength(3);
    await tokensOf(await refresh(portal, tv, tokens.refresh_token));
    expect(events.map(({ type }) => type)).toEqual([
      'consent_granted',
      'tokens_issued',
      'tokens_issued',
    ]);
    expect(events[1]).toMatchObject({
      grantType: DEVICE_GRANT,
      clientId: tv.id,
      scopes: ['openid', 'notes:read'],
    });
    expect(await refusalOf(await poll(portal, tv, begun))).toEqual([400, 'invalid_grant']);
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
  });

  test('is registered on the console without a redirect URI, and the output does not mention PKCE', async () => {
    const create = ['oauth:client:create', 'TV', '--public', '--scope=notes:read'];
    const run = (...args: readonly string[]) =>
      porticoHere([...create, ...args], {
        cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
        env: {
          ...portal.env,
          PUBLIC_URL: portal.url,
          PORTAL_CONFIG: JSON.stringify(DEVICES),
        },
      });
    const says = 'This client is public: it has no secret';
    expect((await run(`--grant=${DEVICE_GRANT}`)).stderr).toBe(`${says}.\n`);
    const { stderr } = await run('--redirect=https://tv.example/cb');
    expect(stderr).toBe(`${says} and uses PKCE.\n`);
  });

  // @shows AS-48.2, RFC8628-3.5a
  test('gets access_denied after the person denies it', async () => {
    const begun = await begin(portal, tv);
    expect(await textOf(await decide(ada, begun, 'deny'))).toContain('Access denied');
    for (let time = 0; time < 2; time += 1)
      expect(await refusalOf(await poll(portal, tv, begun))).toEqual([400, 'access_denied']);
    expect(events.map(({ type }) => type)).toEqual(['consent_denied']);
  });

  // @shows AS-48.2, RFC8628-3.5b
  test('that polls too early must wait five seconds longer from then on', async () => {
    const begun = await begin(portal, tv);
    const answers = [];
    for (const seconds of [0, 5, 1, 5, 14, 15]) {
      pass(seconds);
      answers.push(await errorOf(await poll(portal, tv, begun)));
    }
    const [pending, slow] = ['authorization_pending', 'slow_down'];
    expect(answers).toEqual([pending, pending, slow, slow, pending, pending]);
    await decide(ada, begun);
    await tokensOf(await poll(portal, tv, begun));
  });

  // @shows AS-48.2
  test('gets expired_token after ten minutes, and its code can no longer be allowed', async () => {
    const begun = await begin(portal, tv);
    const asked = await enter(ada, begun.user_code);
    pass(601);
    expect(await refusalOf(await poll(portal, tv, begun))).toEqual([400, 'expired_token']);
    expect((await ada.submit(asked, { decision: 'allow' })).status).toBe(400);
    expect(await textOf(await enter(ada, begun.user_code))).toContain(
      'This code is unknown or has expired',
    );
    expect(await refusalOf(await poll(portal, tv, begun))).toEqual([400, 'expired_token']);
  });

  // @shows AS-48.2
  test('has a minute to fetch its tokens, even if the person allows it late', async () => {
    const [first, second] = [await begin(portal, tv), await begin(portal, tv)];
    pass(570);
    await decide(ada, first);
    await decide(ada, second);
    pass(50);
    await tokensOf(await poll(portal, tv, first));
    pass(20);
    expect(await refusalOf(await poll(portal, tv, second))).toEqual([400, 'expired_token']);
  });

  // @shows AS-48.1, RFC8628-3.1
  test('can be a public client, and can name the resource', async () => {
    const box = await registerDevice(portal, { public: true });
    const begun = await begin(portal, box, {});
    await decide(ada, begun);
    const tokens = await tokensOf(await poll(portal, box, begun));
    expect(tokens.scope).toBe('profile email notes:read notes:write');
    const other = await requestCodes(portal, box, { resource: 'https://elsewhere.example' });
    expect(await refusalOf(other)).toEqual([400, 'invalid_target']);
  });

  // @shows AS-48.1
  test('with too many codes in its network must wait, also if it sends simultaneous requests', async () => {
    const box = await registerDevice(portal, { public: true });
    for (let count = 0; count < 95; count += 1) await begin(portal, box, {});
    const answers = await Promise.all(Array.from({ length: 25 }, () => requestCodes(portal, box)));
    const begun = answers.filter(({ status }) => status === 200).length;
    expect(begun).toBeLessThanOrEqual(5);
    const refused = answers.filter(({ status }) => status === 429);
    expect(begun + refused.length).toBe(25);
    expect(refused.every(({ headers }) => headers.get('retry-after') === '60')).toBe(true);
    // A client with a secret does not have this limit.
    await begin(portal, tv);
    pass(601);
    await begin(portal, box);
  });

  // @shows AS-48.1
  test('can request codes again as soon as a person answers a different device of its network', async () => {
    const box = await registerDevice(portal, { public: true });
    const first = await begin(portal, box);
    const second = await begin(portal, box);
    for (let count = 2; count < 100; count += 1) await begin(portal, box);
    expect((await requestCodes(portal, box)).status).toBe(429);
    for (const [begun, decision] of [
      [first, 'deny'],
      [second, 'allow'],
    ] as const) {
      await decide(ada, begun, decision);
      await begin(portal, box);
      expect((await requestCodes(portal, box)).status).toBe(429);
    }
  });

  // @shows AS-48.1
  test('of a public client is not limited by codes of clients with a secret', async () => {
    const box = await registerDevice(portal, { public: true });
    for (let count = 0; count < 101; count += 1) await begin(portal, tv);
    expect((await requestCodes(portal, box)).status).toBe(200);
  });

  // @shows AS-24.3
  test('that gets no tokens does not use up its DPoP proof', async () => {
    const { database } = portal.application;
    const written = async () =>
      (await database.execute('SELECT COUNT(*) AS n FROM oauth_single_uses')).rows[0];
    const box = await registerDevice(portal, { public: true });
    const proof = () => tokenProof(newDpopKey(), portal.url, Date.now() + ahead);
    const ask = ({ device_code }: { readonly device_code: string }) =>
      requestWithProof(portal, box, proof(), { grant_type: DEVICE_GRANT, device_code });
    const [waiting, denied, used] = [
      await begin(portal, box),
      await begin(portal, box),
      await begin(portal, box),
    ];
    await decide(ada, denied, 'deny');
    await decide(ada, used);
    await tokensOf(await poll(portal, box, used));
    const before = await written();
    expect(await errorOf(await ask(waiting))).toBe('authorization_pending');
    expect(await errorOf(await ask(denied))).toBe('access_denied');
    expect(await errorOf(await ask(used))).toBe('invalid_grant');
    expect(await written()).toEqual(before);
  });

  // @shows AS-48.4
  test('with a DPoP proof gets tokens bound to its key, and each proof works once', async () => {
    const key = newDpopKey();
    const box = await registerDevice(portal, { public: true });
    const begun = await begin(portal, box);
    await decide(ada, begun);
    const form = { grant_type: DEVICE_GRANT, device_code: begun.device_code };
    const proof = tokenProof(key, portal.url, Date.now() + ahead);
    const tokens = await tokensOf(await requestWithProof(portal, box, proof, form));
    expect(tokens.token_type).toBe('DPoP');
    expect(await introspect(portal, tokens.access_token)).toMatchObject({
      cnf: expect.anything() as unknown,
    });
    const again = await begin(portal, box);
    await decide(ada, again);
    const replayed = await requestWithProof(portal, box, proof, {
      ...form,
      device_code: again.device_code,
    });
    expect(await refusalOf(replayed)).toEqual([400, 'invalid_dpop_proof']);
    const without = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    expect(await refusalOf(await requestWithProof(portal, box, null, without))).toEqual([
      400,
      'invalid_grant',
    ]);
  });
});

describe('a client gets no device codes', () => {
  // @shows AS-48.1
  test.each<
    [string, (box: TestClient) => TestClient | Promise<TestClient>, string, Record<string, string>]
  >([
    ['with a wrong secret', ({ id }) => ({ id, secret: 'wrong' }), 'invalid_client', {}],
    ['that is unknown', () => ({ id: 'unknown', secret: '' }), 'invalid_client', {}],
    ['that leaves out its secret', ({ id }) => ({ id, secret: '' }), 'invalid_client', {}],
    ['without the grant', () => registerClient(portal), 'unauthorized_client', {}],
    ['for a scope that it does not have', (box) => box, 'invalid_scope', { scope: 'everything' }],
  ])('%s', async (_, as, error, form) => {
    const response = await requestCodes(portal, await as(tv), form);
    expect(await errorOf(response)).toBe(error);
  });

  const register = (grants: readonly string[]) =>
    fetch(`${portal.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Television',
        grant_types: grants,
        redirect_uris: ['https://client.example/callback'],
        token_endpoint_auth_method: 'none',
      }),
    });

  // @shows AS-22.2
  test('if it registers itself: registration never gives it the grant', async () => {
    const both = await register(['authorization_code', DEVICE_GRANT]);
    expect([both.status, await both.json()]).toMatchObject([
      201,
      { grant_types: ['authorization_code'] },
    ]);
    const only = await register([DEVICE_GRANT]);
    expect(await refusalOf(only)).toEqual([400, 'invalid_client_metadata']);
  });

  // @shows AS-48.1
  test('if it registered itself, because its identity cannot be verified', async () => {
    const response = await register(['authorization_code', DEVICE_GRANT]);
    expect(response.status).toBe(201);
    const { client_id: id } = (await response.json()) as { readonly client_id: string };
    expect(await errorOf(await requestCodes(portal, { id, secret: '' }))).toBe(
      'unauthorized_client',
    );
  });
});

describe('a device code', () => {
  // @shows AS-48.4, RFC8628-3.4
  test('is refused to a different client, and still works for its own client', async () => {
    const other = await registerDevice(portal);
    const begun = await begin(portal, tv);
    expect(await refusalOf(await poll(portal, other, begun))).toEqual([400, 'invalid_grant']);
    await decide(ada, begun);
    expect(await refusalOf(await poll(portal, other, begun))).toEqual([400, 'invalid_grant']);
    const wrong = await poll(portal, { ...tv, secret: 'wrong' }, begun);
    expect(wrong.status).toBe(401);
    await tokensOf(await poll(portal, tv, begun));
  });

  // @shows AS-48.4
  test('is not an authorization code, and an authorization code is not a device code', async () => {
    const begun = await begin(portal, tv);
    await decide(ada, begun);
    const both = await registerClient(portal, { grants: ['authorization_code', DEVICE_GRANT] });
    expect(await refusalOf(await exchangeCode(portal, both, begun.device_code))).toEqual([
      400,
      'invalid_grant',
    ]);
    for (const code of ['', 'x', `${'0'.repeat(32)}.${'A'.repeat(43)}`, begun.user_code, '\0']) {
      const form = { grant_type: DEVICE_GRANT, device_code: code };
      const error = code === '' ? 'invalid_request' : 'invalid_grant';
      expect(await refusalOf(await requestToken(portal, tv, form))).toEqual([400, error]);
    }
    await tokensOf(await poll(portal, tv, begun));
  });

  // @shows AS-48.4
  test('gives no tokens if the account, permission, client or access ended before the poll', async () => {
    const grace = await portal.signedIn(GRACE);
    const scope = { scope: 'notes:read' };
    await portal.grant(GRACE, 'notes:read');
    const ends: readonly (readonly [string, (client: TestClient) => Promise<unknown>, unknown])[] =
      [
        ['suspended', () => portal.suspend(GRACE), [400, 'invalid_grant']],
        ['without permission', () => portal.deny(GRACE, 'notes:read'), [400, 'access_denied']],
        ['client revoked', ({ id }) => portal.server.clients.revoke(id), [401, 'invalid_client']],
        [
          'grant removed',
          ({ id }) =>
            portal.server.clients.update(id, {
              removeGrants: [DEVICE_GRANT, 'refresh_token'],
              addGrants: ['client_credentials'],
            }),
          [400, 'unauthorized_client'],
        ],
        [
          'scope removed',
          ({ id }) => portal.server.clients.update(id, { removeScopes: ['notes:read'] }),
          [400, 'invalid_scope'],
        ],
        [
          'access removed by the person',
          async () => grace.submit(await grace.get('/oauth/applications')),
          [400, 'invalid_grant'],
        ],
      ];
    for (const [what, end, refusal] of ends) {
      const client = await registerDevice(portal, { scopes: ['notes:read', 'notes:write'] });
      const begun = await begin(portal, client, scope);
      await decide(grace, begun);
      await end(client);
      expect([what, await refusalOf(await poll(portal, client, begun))]).toEqual([what, refusal]);
      await portal.restore(GRACE);
      await portal.grant(GRACE, 'notes:read');
    }
    onTestFinished(() => portal.deny(GRACE, 'notes:read'));
  });

  // @shows AS-48.4
  test('gives only scopes that the person may still allow', async () => {
    const grace = await portal.signedIn(GRACE);
    await portal.grant(GRACE, 'notes:read');
    onTestFinished(() => portal.deny(GRACE, 'notes:read'));
    const begun = await begin(portal, tv, { scope: 'profile notes:read' });
    await decide(grace, begun);
    await portal.deny(GRACE, 'notes:read');
    expect((await tokensOf(await poll(portal, tv, begun))).scope).toBe('profile');
  });

  // @shows AS-48.3
  test('is stored only as a hash, like its user code, and removed after an hour', async () => {
    const begun = await begin(portal, tv);
    const { database } = portal.application;
    const rows = async () => (await database.execute('SELECT * FROM oauth_device_codes')).rows;
    const stored = JSON.stringify(await rows());
    expect(stored).toContain(tv.id);
    expect(stored).not.toContain(begun.device_code);
    expect(stored).not.toContain(begun.user_code.replaceAll('-', ''));
    pass(3600 + 601);
    const { deviceRequests } = await portal.server.prune();
    expect(deviceRequests).toBeGreaterThan(0);
    expect(await rows()).toEqual([]);
  });
});

describe('the device page', () => {
  // @shows AS-48.5, RFC8628-3.3, RFC8628-3.3.1
  test('requires sign-in, and keeps the code of a link until then', async () => {
    const { user_code: code } = await begin(portal, tv);
    const away = await portal.visitor().get(`/oauth/device?user_code=${code}`);
    expect(away.status).toBe(302);
    expect(locationOf(away).pathname).toBe('/login');
    expect(decodeURIComponent(locationOf(away).search)).toContain(
      `/oauth/device?user_code=${code}`,
    );
    const page = await ada.get(`/oauth/device?user_code=${code.toLowerCase()}`);
    expect(await page.clone().text()).toContain(`value="${code}"`);
    expect(await textOf(page)).toContain('Does your device show this code now?');
    expect(await textOf(page)).not.toContain('Allow');
    const asked = await ada.submit(page, { user_code: code });
    expect(await textOf(asked)).toContain('Allow Television to use your Portal account?');
  });

  // @shows AS-48.5, RFC8628-5.4
  test('shows the client, time and address of the request, and warns to allow only own requests', async () => {
    const begun = await begin(portal, tv);
    pass(130);
    const asked = await enter(ada, ` ${begun.user_code.toLowerCase().replaceAll('-', ' ')} `);
    const text = await textOf(asked);
    expect(text).toContain('Continue only if you started this on your own device.');
    expect(text).toMatch(
      /This request was started 2 minutes ago ? from the IP address (?:127\.0\.0\.1|::1) ?\./,
    );
    expect(text).toContain(begun.user_code);
    expect(text).toMatch(/Signed in as .*Ada/);
    expect(text).toContain('Read your notes');
    expect(text).not.toMatch(/Either way, you will be sent/);
    for (const page of [asked, await ada.get('/oauth/device')]) {
      expect(page.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
      expect(page.headers.get('content-security-policy')).not.toMatch(/script-src/);
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });

  // @shows AS-48.5
  test('accepts an answer only with the token of this form, person, browser, code and scopes', async () => {
    const begun = await begin(portal, tv, { scope: 'notes:read' });
    const other = await begin(portal, tv, { scope: 'notes:write' });
    const asked = await enter(ada, begun.user_code);
    const { action, fields } = formOf(await asked.clone().text());
    const elsewhere = await portal.signedIn(ADA);
    const grace = await portal.signedIn(GRACE);
    const answers: readonly (readonly [Visitor, Record<string, string>])[] = [
      [ada, { csrf_token: '' }],
      [ada, { scope: 'notes:read notes:write' }],
      [ada, { user_code: other.user_code }],
      [elsewhere, {}],
      [grace, {}],
    ];
    for (const [visitor, changes] of answers) {
      const answer = await visitor.post(action, { ...fields, decision: 'allow', ...changes });
      expect(answer.status).toBe(400);
    }
    const unsigned = await portal.visitor().post(action, { ...fields, decision: 'allow' });
    expect(unsigned.status).toBe(303);
    const codes = await ada.post('/oauth/device', { user_code: begun.user_code, csrf_token: 'x' });
    expect(codes.status).toBe(400);
    expect(await errorOf(await poll(portal, tv, begun))).toBe('authorization_pending');
    const twice = await Promise.all([1, 2].map(() => ada.submit(asked, { decision: 'allow' })));
    for (const each of twice) expect(await textOf(each)).toContain('Your device is connected');
    expect(events.filter(({ type }) => type === 'consent_granted')).toHaveLength(1);
    expect((await ada.submit(asked, { decision: 'deny' })).status).toBe(400);
    expect((await tokensOf(await poll(portal, tv, begun))).scope).toBe('notes:read');
  });

  // @shows AS-48.5
  test('"Not you?" signs out, and the next person who signs in sees the code', async () => {
    const begun = await begin(portal, tv);
    for (const page of [await enter(await portal.signedIn(GRACE), begun.user_code)])
      expect(page.status).toBe(200);
    const grace = await portal.signedIn(GRACE);
    const away = await grace.submit(await enter(grace, begun.user_code), { decision: 'switch' });
    expect(away.status).toBe(303);
    expect(decodeURIComponent(locationOf(away).href)).toContain(`user_code=${begun.user_code}`);
    expect((await grace.get('/oauth/device')).status).toBe(302);
    expect(await errorOf(await poll(portal, tv, begun))).toBe('authorization_pending');
  });

  // @shows AS-48.5
  test('refuses a person without the permissions, and a different person can allow the device', async () => {
    const begun = await begin(portal, tv, { scope: 'notes:write' });
    const grace = await portal.signedIn(GRACE);
    await portal.deny(GRACE, 'notes:write');
    const page = await enter(grace, begun.user_code);
    expect([page.status, await textOf(page)]).toEqual([
      400,
      expect.stringContaining('does not have any of the permissions'),
    ]);
    await decide(ada, begun);
    await tokensOf(await poll(portal, tv, begun));
  });

  // @shows AS-48.3
  test('distinguishes a mistyped code from an unknown one, and reveals nothing more', async () => {
    const mistyped = await enter(ada, 'BBB-BBB-BBC');
    expect([mistyped.status, await textOf(mistyped)]).toEqual([
      400,
      expect.stringContaining('not a valid code'),
    ]);
    const unknown = await enter(ada, 'BBB-BBB-BBB');
    expect([unknown.status, await textOf(unknown)]).toEqual([
      400,
      expect.stringContaining('unknown or has expired'),
    ]);
    const odd = await enter(ada, '"><script>alert(1)</script>');
    expect(await odd.text()).not.toContain('<script');
  });
});

// @shows AS-48.3, RFC8628-5.1
test('a person who guesses user codes gets fewer than 50 attempts in ten minutes', async () => {
  const grace = await portal.signedIn(GRACE);
  const begun = await begin(portal, tv);
  const form = await grace.get('/oauth/device');
  let judged = 0;
  const slowed = new Set<string>();
  for (let second = 0; second < 600; second += 2) {
    pass(2);
    const answer = await grace.submit(form, { user_code: 'BBB-BBB-BBB' });
    if (answer.status === 400) judged += 1;
    else slowed.add(`${answer.status} ${Number(answer.headers.get('retry-after')) > 0}`);
  }
  expect([...slowed]).toEqual(['429 true']);
  expect(judged).toBeGreaterThan(10);
  expect(judged).toBeLessThan(50);
  ahead -= 600_000;
  await decide(ada, begun);
  await tokensOf(await poll(portal, tv, begun));
});

// @shows AS-48.1
test('openid-client signs in with a device code', async () => {
  const config = await openid.discovery(
    new URL(portal.url),
    tv.id,
    undefined,
    openid.ClientSecretBasic(tv.secret),
    { execute: [openid.allowInsecureRequests] },
  );
  const begun = await openid.initiateDeviceAuthorization(config, { scope: 'openid notes:read' });
  const polling = openid.pollDeviceAuthorizationGrant(config, { ...begun, interval: 1 });
  await decide(ada, begun as Awaited<ReturnType<typeof begin>>);
  const tokens = await polling;
  expect(tokens.claims()?.iss).toBe(portal.url);
  expect(tokens.refresh_token).toBeTypeOf('string');
});

// @shows AS-48.6, AS-2.48
test('with the device grant off, there is no table, endpoint, metadata member or grant for it', async () => {
  const without = await startPortal();
  onTestFinished(() => without.close());
  for (const path of ['/oauth/device', '/oauth/device_authorization'])
    expect((await fetch(`${without.url}${path}`, { method: 'POST' })).status).toBe(404);
  const metadata = await fetch(`${without.url}/.well-known/oauth-authorization-server`);
  expect(await metadata.text()).not.toContain('device');
  await expect(registerDevice(without)).rejects.toThrow('is unknown');
  await expect(
    without.application.database.execute('SELECT 1 FROM oauth_device_codes'),
  ).rejects.toThrow(/oauth_device_codes/);
});

describe('access that a different process ends while a person answers for a device', () => {
  let own: RunningPortal;
  let box: TestClient;
  let person: Visitor;
  let id: string;
  /** Runs once, after the next statement that matches. The request waits for it. */
  let next: { readonly after: RegExp; readonly act: () => Promise<unknown> } | null = null;

  beforeAll(async () => {
    own = await startPortal({ config: DEVICES });
    const { database } = own.application;
    const execute = database.execute.bind(database);
    database.execute = async (sql, ...rest) => {
      const result = await execute<never>(sql, ...rest);
      const now = next?.after.test(sql) === true ? next : null;
      if (now !== null) next = null;
      await now?.act();
      return result;
    };
    box = await registerDevice(own);
  });
  afterAll(() => own.close());
  beforeEach(async () => {
    next = null;
    person = await own.signedIn(ADA);
  });

  const COMMANDS = ['oauth:person:erase', 'oauth:person:revoke', 'oauth:restored'] as const;

  async function end(command: (typeof COMMANDS)[number]): Promise<void> {
    const args = {
      'oauth:person:erase': ['accounts', id, '--yes'],
      'oauth:person:revoke': ['accounts', id],
      'oauth:restored': ['--yes'],
    };
    const { code, stderr } = await portico([command, ...args[command], '--json'], {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...own.env, PUBLIC_URL: own.url, PORTAL_CONFIG: JSON.stringify(DEVICES) },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }

  /** Allows a request, and returns the subject in the tokens of the device. */
  async function subjectOfNew(): Promise<string> {
    const begun = await begin(own, box);
    await decide(person, begun);
    const { id_token: idToken } = await tokensOf(await poll(own, box, begun));
    id = (await own.server.access.list()).items[0]?.person.id ?? '';
    return decodeJwt(idToken).sub ?? '';
  }

  // @shows AS-31.6, AS-31.8, AS-31.9, AS-48.5
  test.each(COMMANDS)(
    '%s: an answer that the server is storing gives no access',
    async (command) => {
      const subject = await subjectOfNew();
      const begun = await begin(own, box);
      const asked = await enter(person, begun.user_code);
      next = { after: /^SELECT .* FROM oauth_subjects/, act: () => end(command) };
      const answer = await person.submit(asked, { decision: 'allow' });
      expect(next).toBeNull();
      expect(answer.status).toBe(400);
      expect((await poll(own, box, begun)).status).toBe(400);
      expect((await own.server.access.list()).items).toEqual([]);
      expect((await subjectOfNew()) === subject).toBe(command !== 'oauth:person:erase');
    },
  );

  // @shows AS-31.6, AS-31.8, AS-31.9, AS-48.5
  test.each(COMMANDS)(
    '%s: a page that the person opened before can no longer allow the device',
    async (command) => {
      await subjectOfNew();
      const begun = await begin(own, box);
      const asked = await enter(person, begun.user_code);
      await end(command);
      expect((await person.submit(asked, { decision: 'allow' })).status).toBe(400);
      expect((await poll(own, box, begun)).status).toBe(400);
      expect((await own.server.access.list()).items).toEqual([]);
    },
  );

  // @shows AS-31.6, AS-31.8, AS-31.9, AS-48.5
  test.each(COMMANDS)(
    '%s: a page that the person opened before can no longer deny the device',
    async (command) => {
      await subjectOfNew();
      const begun = await begin(own, box);
      const asked = await enter(person, begun.user_code);
      await end(command);
      expect((await person.submit(asked, { decision: 'deny' })).status).toBe(400);
      expect(await errorOf(await poll(own, box, begun))).toBe(
        command === 'oauth:restored' ? 'expired_token' : 'authorization_pending',
      );
    },
  );

  // @shows AS-31.6, AS-48.5
  test('after oauth:person:revoke, the person can enter the code again and allow the device', async () => {
    await subjectOfNew();
    const begun = await begin(own, box);
    await enter(person, begun.user_code);
    await end('oauth:person:revoke');
    await decide(person, begun);
    await tokensOf(await poll(own, box, begun));
  });

  // @shows AS-31.9
  test('oauth:restored ends each unanswered request, and its device gets expired_token', async () => {
    const begun = await begin(own, box);
    await end('oauth:restored');
    expect(await refusalOf(await poll(own, box, begun))).toEqual([400, 'expired_token']);
    expect(await textOf(await enter(person, begun.user_code))).toContain(
      'This code is unknown or has expired',
    );
  });
});

describe('a device that requests one of several resources', () => {
  let several: RunningPortal;
  let client: TestClient;
  let reading: string;

  beforeAll(async () => {
    several = await startPortal({
      config: (url) => ({
        oauth_server: {
          ...DEVICES.oauth_server,
          resources: {
            [`${url}/reading`]: { scopes: ['notes:read'], label: 'Notes to read' },
            [`${url}/writing`]: { scopes: ['notes:read', 'notes:write'], label: 'Notes to write' },
          },
        },
      }),
    });
    client = await registerDevice(several);
    reading = `${several.url}/reading`;
  });
  afterAll(() => several.close());

  // @shows AS-48.5
  test('is shown to the person with this resource', async () => {
    const begun = await begin(several, client, { scope: 'notes:read', resource: reading });
    const page = await enter(await several.signedIn(ADA), begun.user_code);
    expect(await textOf(page)).toContain('For use with Notes to read');
  });

  // @shows AS-48.2
  test('gets no tokens for a different resource, and its code stays valid', async () => {
    const begun = await begin(several, client, { scope: 'notes:read', resource: reading });
    await decide(await several.signedIn(ADA), begun);
    const form = { grant_type: DEVICE_GRANT, device_code: begun.device_code };
    const elsewhere = { ...form, resource: `${several.url}/writing` };
    expect(await refusalOf(await requestToken(several, client, elsewhere))).toEqual([
      400,
      'invalid_target',
    ]);
    const { access_token: accessToken } = await tokensOf(
      await requestToken(several, client, { ...form, resource: reading }),
    );
    expect(await introspect(several, accessToken)).toMatchObject({ aud: reading });
  });
});

// @shows AS-48.5
test.each(['Bearer x', 'DPoP x'])(
  'the device page refuses a form with the token %s',
  async (sent) => {
    const headers = { Authorization: sent };
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${portal.url}/oauth/device`, {
        method,
        headers,
        redirect: 'manual',
        ...(method === 'POST' ? { body: new URLSearchParams({ user_code: 'BBB-BBB-BBB' }) } : {}),
      });
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    }
  },
);

// @shows AS-44.6, AS-48.2
test('the ID token of a device contains when the person who allowed it authenticated', async () => {
  const knowing = await startPortal({
    clock: () => Date.now() + ahead,
    hostClock: () => Date.now() + ahead,
    config: { oauth_server: { ...DEVICES.oauth_server, reauthentication: true } },
  });
  onTestFinished(() => knowing.close());
  const box = await registerDevice(knowing);
  const before = Math.floor((Date.now() + ahead) / 1000);
  const person = await knowing.signedIn(ADA);
  const after = Math.floor((Date.now() + ahead) / 1000);
  pass(100);
  const begun = await begin(knowing, box);
  await decide(person, begun);
  const tokens = await tokensOf(await poll(knowing, box, begun));
  const { auth_time: time, amr } = decodeJwt(tokens.id_token);
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(after);
  expect(amr).toEqual(['pwd']);
});

// @shows AS-48.1
test('a page of a different origin cannot read device codes', async () => {
  const response = await fetch(`${portal.url}/oauth/device_authorization`, {
    method: 'POST',
    headers: { Origin: 'https://elsewhere.example' },
    body: new URLSearchParams({ client_id: tv.id, client_secret: tv.secret }),
  });
  expect(response.headers.has('access-control-allow-origin')).toBe(false);
});

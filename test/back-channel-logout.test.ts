// @engines all: sessions are in the store
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import {
  AUDIT,
  createAuthorizationServer,
  oauthServerConfiguration,
  type AuditEvent,
  type AuthorizationServer,
  type Database,
  type Host,
} from 'portico';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { openForTests } from './support/every-run.ts';
import {
  startLogoutReceivers,
  type LogoutReceiver,
  type LogoutReceivers,
} from './support/logout-receiver.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  exchangeCode,
  GRACE,
  introspect,
  obtainCode,
  PASSWORD,
  refresh,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { RUNS_ALL, waysOf } from './support/scale.ts';
import { formOf, type Visitor } from './support/visitor.ts';

/** OpenID Connect Back-Channel Logout 1.0. */

const CONFIG = {
  oauth_server: { back_channel_logout: true, logout: true, registration: 'open' },
} as const;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

let receivers: LogoutReceivers;
let portal: RunningPortal;
/** How far the server's clock is ahead, in milliseconds. */
let ahead = 0;
let count = 0;

openForTests(async () => {
  ahead = 0;
  const opened = await startLogoutReceivers();
  const started = await startPortal({
    clock: () => Date.now() + ahead,
    config: CONFIG,
    outbound: opened.outbound,
  });
  [receivers, portal] = [opened, started];
  return async () => {
    await opened.close();
    await started.close();
  };
});
beforeEach(() => {
  ahead = 0;
});

function newReceiver(): LogoutReceiver {
  count += 1;
  return receivers.receive(`/logout/${count}`);
}

/** A client, and what it receives. */
async function newClient(uri: (own: string) => string = (own) => own) {
  const receiver = newReceiver();
  const metadata = { backchannel_logout_uri: [uri(receiver.url)] };
  return { client: await registerClient(portal, { metadata }), receiver };
}

async function tokensOf(
  client: TestClient,
  visitor: Visitor,
  changes: Readonly<Record<string, string>> = {},
): Promise<Tokens> {
  const code = await obtainCode(portal, client, visitor, changes);
  return (await (await exchangeCode(portal, client, code)).json()) as Tokens;
}

const sidOf = (token: string) => decodeJwt(token)['sid'] as string | undefined;

/** Signs out on the application's own page. */
async function signOut(visitor: Visitor): Promise<void> {
  const { fields } = formOf(await (await visitor.get('/')).text());
  await visitor.post('/logout', fields);
}

/** Resolves when the outbox contains no more messages. */
async function settled(): Promise<void> {
  const { outbox } = portal.server;
  await expect.poll(async () => (await outbox.counts())?.waiting, { timeout: 20_000 }).toBe(0);
}

describe('the sid in ID tokens', () => {
  // @shows AS-2.53, AS-53.1
  test('stays the same for a client during the session, even after a refresh and new sign-in', async () => {
    const [{ client }, ada] = [await newClient(), await portal.signedIn(ADA)];
    const first = await tokensOf(client, ada);
    expect(sidOf(first.id_token)).toMatch(/^[\w-]{43}$/);
    const second = await tokensOf(client, ada);
    const refreshed = (await (
      await refresh(portal, client, second.refresh_token)
    ).json()) as Tokens;
    await signIn(ada, await ada.get('/login?again=1'), ADA);
    const third = await tokensOf(client, ada);
    const sids = [second, refreshed, third].map(({ id_token: token }) => sidOf(token));
    expect(new Set([sidOf(first.id_token), ...sids]).size).toBe(1);
  });

  // @shows AS-53.1
  test('differs between clients, sessions and people', async () => {
    const [one, other] = [await newClient(), await newClient()];
    const browsers = [
      await portal.signedIn(ADA),
      await portal.signedIn(ADA),
      await portal.signedIn(GRACE),
    ];
    const sids: (string | undefined)[] = [];
    for (const browser of browsers)
      for (const { client } of [one, other])
        sids.push(sidOf((await tokensOf(client, browser)).id_token));
    expect(new Set(sids).size).toBe(6);
  });

  // @shows AS-53.1
  test('is not the secret of the session, and no other endpoint reveals it', async () => {
    const [{ client }, ada] = [await newClient(), await portal.signedIn(ADA)];
    const { id_token: idToken, access_token: token } = await tokensOf(client, ada);
    const sid = sidOf(idToken) ?? '';
    const { rows } = await portal.application.database.execute<{ secret: string }>(
      'SELECT secret FROM host_sessions',
    );
    const tables = ['oauth_sessions', 'oauth_session_clients'];
    for (const table of tables) {
      const stored = JSON.stringify(
        (await portal.application.database.execute(`SELECT * FROM ${table}`)).rows,
      );
      for (const { secret } of rows) expect(stored).not.toContain(secret);
      expect(stored).not.toContain(sid);
    }
    expect(await introspect(portal, token)).not.toHaveProperty('sid');
  });

  // @shows AS-53.8
  test('is announced in the metadata', async () => {
    const url = `${portal.url}/.well-known/openid-configuration`;
    expect(await (await fetch(url)).json()).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      claims_supported: expect.arrayContaining(['sid']) as unknown,
    });
  });
});

describe('an id_token_hint at the logout endpoint', () => {
  // @shows AS-51.1, AS-51.2
  test('signs out at once if it is of this session, and otherwise asks for confirmation', async () => {
    const { client } = await newClient();
    const [ada, laptop] = [await portal.signedIn(ADA), await portal.signedIn(ADA)];
    const [own, other] = [await tokensOf(client, ada), await tokensOf(client, laptop)];
    const logout = ({ id_token: hint }: Tokens) =>
      ada.get(`/oauth/logout?${new URLSearchParams({ id_token_hint: hint })}`);
    expect(await (await logout(other)).text()).toContain('name="decision"');
    expect((await ada.get('/oauth/applications')).status).toBe(200);
    await logout(own);
    expect((await ada.get('/oauth/applications')).status).not.toBe(200);
    expect((await laptop.get('/oauth/applications')).status).toBe(200);
  });

  // @shows AS-51.1, AS-53.1
  test('signs out if it was issued to any client of the same session', async () => {
    const [one, two] = [await newClient(), await newClient()];
    const ada = await portal.signedIn(ADA);
    await tokensOf(one.client, ada);
    const { id_token: hint } = await tokensOf(two.client, ada);
    await ada.get(`/oauth/logout?${new URLSearchParams({ id_token_hint: hint })}`);
    expect((await ada.get('/oauth/applications')).status).not.toBe(200);
  });
});

describe('the logout token', () => {
  // @shows AS-53.2
  test('is signed for the client, contains the sid, and is not accepted as an ID token', async () => {
    const [{ client, receiver }, ada] = [await newClient(), await portal.signedIn(ADA)];
    const { id_token: idToken } = await tokensOf(client, ada);
    await signOut(ada);
    await receiver.has(1);
    const [{ type, body } = { type: '', body: '' }] = receiver.requests;
    expect(type).toBe('application/x-www-form-urlencoded');
    expect([...new URLSearchParams(body).keys()]).toEqual(['logout_token']);
    const keys = createRemoteJWKSet(new URL(`${portal.url}/.well-known/jwks.json`));
    const options = { issuer: portal.url, audience: client.id, typ: 'logout+jwt' };
    const { payload, protectedHeader } = await jwtVerify(receiver.tokens[0] ?? '', keys, options);
    expect(protectedHeader.alg).toBe('RS256');
    const { sub, sid } = decodeJwt(idToken);
    const { iat = 0 } = payload;
    expect(payload).toEqual({
      iss: portal.url,
      aud: client.id,
      sub,
      sid,
      iat,
      exp: iat + 120,
      jti: expect.stringMatching(/^[\w-]{43}$/) as unknown,
      events: { [EVENT]: {} },
    });
    await expect(
      jwtVerify(receiver.tokens[0] ?? '', keys, { ...options, typ: 'JWT' }),
    ).rejects.toThrow('typ');
  });

  // @shows AS-53.2
  test('is signed with the algorithm of the ID tokens of the client', async () => {
    const receiver = newReceiver();
    const { keys } = portal.server;
    if ((await keys.active('ES256')) === null) await keys.generate('ES256');
    const client = await registerClient(portal, {
      idTokenSignedResponseAlg: 'ES256',
      metadata: { backchannel_logout_uri: [receiver.url] },
    });
    const ada = await portal.signedIn(ADA);
    await tokensOf(client, ada);
    await signOut(ada);
    await receiver.has(1);
    const published = createRemoteJWKSet(new URL(`${portal.url}/.well-known/jwks.json`));
    const { protectedHeader } = await jwtVerify(receiver.tokens[0] ?? '', published);
    expect(protectedHeader.alg).toBe('ES256');
  });

  // @shows AS-53.2
  test('is in no log line and in no table', async () => {
    const [{ client, receiver }, ada] = [await newClient(), await portal.signedIn(ADA)];
    receiver.status = 503;
    await tokensOf(client, ada);
    await signOut(ada);
    await receiver.has(1);
    const parts = (receiver.tokens[0] ?? '').split('.');
    const { rows } = await portal.application.database.execute(
      'SELECT * FROM oauth_outbox_messages',
    );
    const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
    for (const text of [JSON.stringify(rows), log])
      for (const part of parts.slice(1)) expect(text).not.toContain(part);
    await portal.server.outbox.discard({});
  });
});

describe('the clients that receive a logout message', () => {
  // @shows AS-53.3
  test('are those that got an ID token in this session, once each', async () => {
    const [one, two, elsewhere] = [await newClient(), await newClient(), await newClient()];
    const silent = await registerClient(portal);
    const [ada, laptop] = [await portal.signedIn(ADA), await portal.signedIn(ADA)];
    await tokensOf(one.client, ada);
    await tokensOf(one.client, ada);
    await tokensOf(two.client, ada);
    await tokensOf(silent, ada);
    await tokensOf(elsewhere.client, laptop);
    await signOut(ada);
    await Promise.all([one.receiver.has(1), two.receiver.has(1)]);
    await settled();
    const told = [one, two, elsewhere].map(({ receiver }) => receiver.tokens.length);
    expect(told).toEqual([1, 1, 0]);
    await signOut(laptop);
    await elsewhere.receiver.has(1);
    expect(one.receiver.tokens).toHaveLength(1);
  });

  // @shows AS-53.3
  test('include those whose tokens have expired and were removed', async () => {
    const [{ client, receiver }, ada] = [await newClient(), await portal.signedIn(ADA)];
    const { id_token: idToken } = await tokensOf(client, ada);
    ahead = 60 * 86_400_000;
    await portal.server.prune();
    expect((await portal.server.access.list()).items).toEqual([]);
    await signOut(ada);
    await receiver.has(1);
    expect(sidOf(receiver.tokens[0] ?? '')).toBe(sidOf(idToken));
  });

  // @shows AS-53.3
  test('do not include one whose code was not exchanged, and the code is then invalid', async () => {
    const [{ client, receiver }, ada] = [await newClient(), await portal.signedIn(ADA)];
    const code = await obtainCode(portal, client, ada, { scope: 'openid offline_access' });
    await signOut(ada);
    expect(await errorOf(await exchangeCode(portal, client, code))).toBe('invalid_grant');
    await settled();
    expect(receiver.tokens).toEqual([]);
  });

  // @shows AS-53.3
  test('do not include those that were revoked or no longer have a URI', async () => {
    const [revoked, moved] = [await newClient(), await newClient()];
    const ada = await portal.signedIn(ADA);
    await tokensOf(revoked.client, ada);
    await tokensOf(moved.client, ada);
    await portal.server.clients.revoke(revoked.client.id);
    await portal.server.clients.update(moved.client.id, {
      metadata: { backchannel_logout_uri: [] },
    });
    await signOut(ada);
    await settled();
    expect([...revoked.receiver.tokens, ...moved.receiver.tokens]).toEqual([]);
    expect((await portal.server.outbox.counts())?.undelivered).toBe(0);
  });

  // @shows AS-53.3
  test('include the others when one client requests the sign-out', async () => {
    const [asking, other] = [await newClient(), await newClient()];
    const ada = await portal.signedIn(ADA);
    const { id_token: hint } = await tokensOf(asking.client, ada);
    await tokensOf(other.client, ada);
    await ada.get(`/oauth/logout?${new URLSearchParams({ id_token_hint: hint })}`);
    await Promise.all([asking.receiver.has(1), other.receiver.has(1)]);
  });

  // @shows AS-53.3
  test('leave no session in the store when the kit ends all sessions of a person', async () => {
    const user = await portal.application.accounts.authenticate(GRACE, PASSWORD);
    const person = user?.reference ?? { provider: '', id: '' };
    await portal.application.endSessions(person);
    const grace = await portal.signedIn(GRACE);
    const ended = async () =>
      (
        await portal.application.database.execute<{ found: number }>(
          'SELECT COUNT(*) AS found FROM oauth_sessions WHERE ended_at IS NOT NULL',
        )
      ).rows[0]?.found ?? 0;
    const before = await ended();
    expect(await portal.application.endSessions(person)).toBe(1);
    expect(await ended()).toBe(before + 1);
    expect((await grace.get('/oauth/applications')).status).not.toBe(200);
  });

  // @shows AS-53.3
  test('receive one if a different person signs in, or the account is suspended', async () => {
    const [first, second] = [await newClient(), await newClient()];
    const ada = await portal.signedIn(ADA);
    await tokensOf(first.client, ada);
    await signIn(ada, await ada.get('/login?again=1'), GRACE);
    await first.receiver.has(1);
    await tokensOf(second.client, ada);
    const args = ['account:suspend', GRACE];
    await porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...portal.env, PUBLIC_URL: portal.url, PORTAL_CONFIG: JSON.stringify(CONFIG) },
    });
    await second.receiver.has(1);
    await portal.restore(GRACE);
    expect((await ada.get('/oauth/applications')).status).not.toBe(200);
  });
});

describe('access after the end of the session', () => {
  // @shows AS-53.4
  test('ends for clients with a URI, unless it has offline_access or no openid scope', async () => {
    const { client } = await newClient();
    const assistant = await registerClient(portal);
    const ada = await portal.signedIn(ADA);
    const ended = await tokensOf(client, ada);
    const offline = await tokensOf(client, ada, { scope: 'openid notes:read offline_access' });
    const plain = await tokensOf(client, ada, { scope: 'notes:read' });
    const laptop = await tokensOf(client, await portal.signedIn(ADA));
    const connected = await tokensOf(assistant, ada);
    const unused = await obtainCode(portal, assistant, ada);
    await signOut(ada);
    const statuses = async (of: Tokens, owner = client) => [
      (await callApi(portal, '/api/notes', of.access_token)).status,
      (await refresh(portal, owner, of.refresh_token)).status,
    ];
    expect(await statuses(ended)).toEqual([401, 400]);
    for (const kept of [offline, plain, laptop]) expect(await statuses(kept)).toEqual([200, 200]);
    expect(await statuses(connected, assistant)).toEqual([200, 200]);
    expect(await errorOf(await exchangeCode(portal, assistant, unused))).toBe('invalid_grant');
  });

  // @shows AS-53.1
  test('that continues gets ID tokens without the sid of the ended session', async () => {
    const { client } = await newClient();
    const ada = await portal.signedIn(ADA);
    const kept = await tokensOf(client, ada, { scope: 'openid offline_access' });
    const laptop = await tokensOf(client, await portal.signedIn(ADA));
    await signOut(ada);
    const next = async ({ refresh_token: token }: Tokens) =>
      decodeJwt(((await (await refresh(portal, client, token)).json()) as Tokens).id_token);
    expect(await next(kept)).not.toHaveProperty('sid');
    expect(await next(laptop)).toHaveProperty('sid', sidOf(laptop.id_token));
  });

  // @shows AS-53.4
  test('is reported as ended once, with its reason', async () => {
    const events: AuditEvent[] = [];
    portal.application.events.on(AUDIT, (event: AuditEvent) => void events.push(event));
    const [{ client }, ada] = [await newClient(), await portal.signedIn(ADA)];
    await tokensOf(client, ada);
    await signOut(ada);
    const revoked = events.filter(({ type }) => type === 'family_revoked');
    expect(revoked).toMatchObject([{ reason: 'session', clientId: client.id }]);
  });
});

describe('the delivery of a logout message', () => {
  // @shows AS-53.5
  test.each(waysOf([200, 204]))('ends with the status %i', async (status) => {
    const [{ client, receiver }, ada] = [await newClient(), await portal.signedIn(ADA)];
    receiver.status = status;
    await tokensOf(client, ada);
    await signOut(ada);
    await settled();
    expect(receiver.tokens).toHaveLength(1);
    expect(await portal.server.outbox.list({ receiver: client.id })).toEqual([]);
  });

  // @shows AS-53.5
  test.each(waysOf([400, 404]))(
    'is not retried after the status %i, and an operator can see that',
    async (status) => {
      const [{ client, receiver }, ada] = [await newClient(), await portal.signedIn(ADA)];
      receiver.status = status;
      await tokensOf(client, ada);
      await signOut(ada);
      await settled();
      expect(receiver.tokens).toHaveLength(1);
      const reason = `the client responded to the logout token with the status ${status}`;
      const kind = 'back_channel_logout';
      const listed = await portal.server.outbox.list({ receiver: client.id });
      expect(listed).toMatchObject([{ kind, state: 'undelivered', reason }]);
      await portal.server.outbox.discard({ receiver: client.id });
    },
  );

  // @shows AS-53.5
  test.each(waysOf([503, 302, 429]))(
    'is retried after the status %i with a new token, and follows no redirect',
    async (status) => {
      const [{ client, receiver }, ada] = [await newClient(), await portal.signedIn(ADA)];
      receiver.status = status;
      await tokensOf(client, ada);
      await signOut(ada);
      await receiver.has(1);
      receiver.status = 200;
      ahead = 600_000;
      await settled();
      const [first, second] = receiver.tokens.map((token) => decodeJwt(token));
      expect(receiver.tokens).toHaveLength(2);
      expect(second?.['sid']).toBe(first?.['sid']);
      expect(second?.jti).not.toBe(first?.jti);
      expect(second?.iat).toBeGreaterThan((first?.exp ?? 0) + 60);
    },
  );

  // @shows AS-53.5
  test('continues for other people if it always fails for one person at the same client', async () => {
    const { client, receiver } = await newClient();
    const [ada, grace] = [await portal.signedIn(ADA), await portal.signedIn(GRACE)];
    const failing = sidOf((await tokensOf(client, ada)).id_token);
    const other = sidOf((await tokensOf(client, grace)).id_token);
    receiver.answers = (token) => (sidOf(token) === failing ? 500 : 200);
    await signOut(ada);
    await receiver.has(1);
    await signOut(grace);
    ahead = 600_000;
    await expect
      .poll(() => receiver.tokens.map(sidOf), { timeout: 20_000 })
      .toEqual(expect.arrayContaining([failing, other]));
    // The receiver gets a token before its message is removed.
    const { outbox } = portal.server;
    await expect
      .poll(() => outbox.list({ receiver: client.id }))
      .toMatchObject([
        {
          state: 'waiting',
          reason: 'the client responded to the logout token with the status 500',
        },
      ]);
    await outbox.discard({ receiver: client.id });
  });

  // @shows AS-53.5
  test.runIf(RUNS_ALL)(
    'reaches one host at most 600 times a minute, without an effect on others or later',
    async () => {
      let later = 0;
      const own = await startPortal({
        clock: () => Date.now() + later,
        config: CONFIG,
        outbound: receivers.outbound,
      });
      const { outbox, clock } = own.server;
      const [there, other] = [[newReceiver(), newReceiver()], newReceiver()];
      const elsewhere = receivers.url(new URL(other.url).pathname, 'vendor.example');
      const add = async (uri: string, count: number) => {
        const { id } = await registerClient(own, { metadata: { backchannel_logout_uri: [uri] } });
        const expiresAt = clock() + 3_600_000;
        const messages = Array.from({ length: count }, (_, sid) => {
          const payload = JSON.stringify({ subject: 'ada', sid: `${sid}` });
          return { kind: 'back_channel_logout', receiver: id, payload, expiresAt };
        });
        await own.application.database.transaction((connection) =>
          outbox.add(connection, messages),
        );
      };
      const waiting = async () => (await outbox.counts())?.waiting;
      try {
        for (const { url } of there) await add(url, 350);
        await add(elsewhere, 3);
        outbox.start();
        await expect.poll(waiting, { timeout: 60_000 }).toBe(100);
        const reason =
          'too many requests were sent to client.example within a minute, or are being sent now';
        await expect
          .poll(async () => (await outbox.list({}, { limit: 1000 })).map((each) => each.reason))
          .toContain(reason);
        const atThere = () => there.flatMap(({ tokens }) => tokens).length;
        expect([atThere(), other.tokens.length]).toEqual([600, 3]);
        later = 61_000;
        await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
        expect(atThere()).toBe(700);
      } finally {
        await own.close();
      }
    },
  );

  // @shows AS-53.5
  test('never reaches a private address, and sends no token there', async () => {
    const reached: string[] = [];
    const inside = await startPortal({
      config: CONFIG,
      outbound: {
        ...receivers.outbound,
        async resolve(name) {
          reached.push(name);
          return ['10.0.0.7'];
        },
      },
    });
    try {
      const receiver = newReceiver();
      const metadata = { backchannel_logout_uri: [receiver.url] };
      const client = await registerClient(inside, { metadata });
      const ada = await inside.signedIn(ADA);
      await exchangeCode(inside, client, await obtainCode(inside, client, ada));
      await signOut(ada);
      await expect
        .poll(async () => (await inside.server.outbox.list())[0]?.reason)
        .toBe('the host has the address 10.0.0.7, which is not public');
      expect(reached).toContain('client.example');
      expect(receiver.requests).toEqual([]);
    } finally {
      await inside.close();
    }
  });
});

describe('the back-channel logout URI of a client', () => {
  const console = (...args: readonly string[]) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...portal.env, PUBLIC_URL: portal.url, PORTAL_CONFIG: JSON.stringify(CONFIG) },
    });
  const URI = 'https://calendar.example/logout';
  const create = ['oauth:client:create', 'Calendar', '--redirect=https://calendar.example/cb'];

  // @shows AS-53.6
  test('is registered, shown, replaced and removed by an operator', async () => {
    const given = [...create, '--scope=openid', `--backchannel-logout-uri=${URI}`, '--json'];
    const created = JSON.parse((await console(...given)).stdout) as Record<string, string>;
    expect(created['backchannel_logout_uri']).toBe(URI);
    const id = created['client_id'] ?? '';
    const shown = JSON.parse((await console('oauth:client:show', id, '--json')).stdout) as object;
    expect(shown).toMatchObject({ backchannel_logout_uri: URI });
    const update = (uri: string) =>
      console('oauth:client:update', id, `--backchannel-logout-uri=${uri}`);
    expect((await update(`${URI}/2`)).stdout).toContain(`"${URI}" → "${URI}/2"`);
    await update('');
    expect((await portal.server.clients.show(id)).metadata).toEqual({});
  });

  // @shows AS-53.6
  test.each([
    ['http://client.example/logout', 'is not https'],
    ['http://localhost/logout', 'is not https'],
    ['https://client.example/logout#x', 'has a fragment'],
    ['https://me:secret@client.example/logout', 'carries credentials'],
    ['https://10.0.0.7/logout', 'has an IP address instead of a host name'],
    ['https://client.example/a/../logout', 'is not in normal form'],
    ['javascript:alert(1)', 'is not https'],
  ])('must be one that the server may request: %s', async (uri, problem) => {
    const metadata = { backchannel_logout_uri: [uri] };
    const refused = await registerClient(portal, { metadata }).catch(
      (error: Error) => error.message,
    );
    expect(refused).toContain('The back-channel logout URI');
    expect(refused).toContain(problem);
  });

  // @shows AS-53.6
  test('is accepted at self-registration only with an initial access token', async () => {
    const metadata = {
      redirect_uris: ['https://calendar.example/cb'],
      backchannel_logout_uri: URI,
      backchannel_logout_session_required: true,
    };
    const register = async (headers: Readonly<Record<string, string>>, method?: string) =>
      (
        await fetch(`${portal.url}/oauth/register`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...headers },
          body: JSON.stringify({ ...metadata, token_endpoint_auth_method: method }),
        })
      ).json() as Promise<Record<string, unknown>>;
    const { token } = await portal.server.initialAccessTokens.create({ uses: 2 });
    const vouched = await register({ Authorization: `Bearer ${token}` });
    expect(vouched).toMatchObject({
      backchannel_logout_uri: URI,
      backchannel_logout_session_required: true,
    });
    const open = await register({ Authorization: `Bearer ${token}` }, 'none');
    for (const own of [vouched, open]) {
      const replaced = await fetch(String(own['registration_client_uri']), {
        method: 'PUT',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${String(own['registration_access_token'])}`,
        },
        body: JSON.stringify({
          ...metadata,
          client_id: own['client_id'],
          token_endpoint_auth_method: own['token_endpoint_auth_method'],
        }),
      });
      expect(await replaced.json()).toMatchObject({ backchannel_logout_uri: URI });
    }
    const stranger = await register({});
    expect(stranger['client_id']).toEqual(expect.any(String));
    expect(stranger).not.toHaveProperty('backchannel_logout_uri');
    expect(stranger).not.toHaveProperty('backchannel_logout_session_required');
    expect((await portal.server.clients.show(String(stranger['client_id']))).metadata).toEqual({});
  });
});

describe('back-channel logout with a host without the kit', () => {
  /** Who is signed in, and in which session. */
  let session: { readonly id: string; readonly person: UserReference } | null = null;
  let ada: UserReference;
  const servers: AuthorizationServer[] = [];
  /** Called when the server reads the session. */
  let whileAsked = async () => {};

  interface UserReference {
    readonly provider: string;
    readonly id: string;
  }

  beforeEach(async () => {
    const user = await portal.application.accounts.authenticate(ADA, PASSWORD);
    if (user === null) throw new Error('Ada cannot sign in');
    [session, ada, whileAsked] = [null, user.reference, async () => {}];
  });
  afterEach(async () => {
    for (const { outbox } of servers.splice(0)) await outbox.stop();
  });

  function serverWith(
    host: Partial<Host>,
    database: Database = portal.application.database,
  ): AuthorizationServer {
    const server = createAuthorizationServer({
      publicUrl: portal.url,
      showsDetails: true,
      config: oauthServerConfiguration.parse({
        ...portal.server.config,
        audience: undefined,
        back_channel_logout: true,
        logout: true,
      }),
      database,
      outbound: receivers.outbound,
      clock: portal.server.clock,
      host: {
        signedIn: async () => session?.person ?? null,
        loadAccount: (person) => portal.application.accounts.find(person),
        holdsPermission: async () => true,
        browserSecret: async () => 'a'.repeat(43),
        loginUrl: '/login',
        signOut: async () => {},
        log: { debug() {}, info() {}, warning() {}, error() {} },
        async sessionId() {
          const id = session?.id ?? null;
          await whileAsked();
          return id;
        },
        ...host,
      },
    });
    servers.push(server);
    return server;
  }

  const ask = (server: AuthorizationServer, url: string, form?: Record<string, string>) => {
    const method = form === undefined ? 'GET' : 'POST';
    const { pathname } = new URL(url, portal.url);
    const endpoint = server.endpoints.find(
      (each) => each.path === pathname && each.methods.some((one) => one === method),
    );
    const body = form === undefined ? {} : { method, body: new URLSearchParams(form) };
    const request = new Request(new URL(url, portal.url), body);
    if (endpoint === undefined) throw new Error(`No endpoint ${pathname}`);
    return endpoint.handle(request);
  };

  /** Answers the consent screen. Returns the response. */
  async function allow(server: AuthorizationServer, client: TestClient): Promise<Response> {
    const page = await ask(server, authorizationUrl(portal, client));
    const { action, fields } = formOf(await page.text());
    return ask(server, action, { ...fields, decision: 'allow' });
  }

  async function signInTo(server: AuthorizationServer, client: TestClient): Promise<Tokens> {
    const { headers } = await allow(server, client);
    const back = new URL(headers.get('location') ?? '', portal.url);
    const code = back.searchParams.get('code') ?? '';
    return (await (await exchangeCode(portal, client, code)).json()) as Tokens;
  }

  // @shows AS-53.7
  test('sends messages for a session ended in a transaction only if that commits', async () => {
    const [server, { client, receiver }] = [serverWith({}), await newClient()];
    session = { id: 'session 1', person: ada };
    const tokens = await signInTo(server, client);
    const { database } = portal.application;
    const rolledBack = database.transaction(async (connection) => {
      await server.sessionEndedIn(connection, { session: 'session 1' });
      throw new Error('the change fails');
    });
    await expect(rolledBack).rejects.toThrow('the change fails');
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
    expect(receiver.tokens).toEqual([]);
    const committed = await database.transaction((connection) =>
      server.sessionEndedIn(connection, { session: 'session 1' }),
    );
    await committed();
    await receiver.has(1);
    expect(sidOf(receiver.tokens[0] ?? '')).toBe(sidOf(tokens.id_token));
    await server.sessionEnded({ session: 'session 1' });
    await settled();
    expect(receiver.tokens).toHaveLength(1);
  });

  // @shows AS-53.7
  test('does not fail after the commit, and logs an error of the store', async () => {
    const { database } = portal.application;
    const failing: Database = {
      ...database,
      execute: (sql, ...rest) =>
        /^UPDATE oauth_session_people\s+SET ended_at = \?\s+WHERE/.test(sql)
          ? Promise.reject(new Error('the store went away'))
          : database.execute(sql, ...rest),
      transaction: (...work) => database.transaction(...work),
    };
    const warnings: unknown[][] = [];
    const log = {
      debug() {},
      info() {},
      warning: (...line: unknown[]) => void warnings.push(line),
      error() {},
    };
    const events: AuditEvent[] = [];
    const audit = async (event: AuditEvent) => void events.push(event);
    const [server, { client, receiver }] = [serverWith({ log, audit }, failing), await newClient()];
    session = { id: 'session of a failing store', person: ada };
    const tokens = await signInTo(server, client);
    await server.sessionEnded({ person: ada });
    await receiver.has(1);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(400);
    const ended = { type: 'family_revoked', clientId: client.id, person: ada, reason: 'session' };
    expect(events).toContainEqual(expect.objectContaining(ended));
    expect(warnings).toEqual([
      [
        'Sessions have ended, but a step after the commit failed: {exception}',
        { exception: expect.objectContaining({ message: 'the store went away' }) as unknown },
      ],
    ]);
    // Until this end was committed, it counted as later than the sign-in.
    await serverWith({}).sessionEnded({ person: ada });
  });

  // @shows AS-53.7
  test('ends all sessions of a person, or all except one', async () => {
    const [server, { client, receiver }] = [serverWith({}), await newClient()];
    const sids: Record<string, string | undefined> = {};
    for (const id of ['phone', 'laptop', 'desktop']) {
      session = { id, person: ada };
      sids[id] = sidOf((await signInTo(server, client)).id_token);
    }
    session = { id: 'of another', person: { ...ada, id: await idOf(GRACE) } };
    await signInTo(server, client);
    await server.sessionEnded({ person: ada, except: 'desktop' });
    await receiver.has(2);
    await settled();
    const told = () => new Set(receiver.tokens.map(sidOf));
    expect(told()).toEqual(new Set([sids['phone'], sids['laptop']]));
    await server.sessionEnded({ person: ada });
    await receiver.has(3);
    await settled();
    expect(told()).toEqual(new Set(Object.values(sids)));
    expect(receiver.tokens).toHaveLength(3);
  });

  // @shows AS-53.7
  test('gives no code for a session that ends while the person answers', async () => {
    const [server, { client, receiver }] = [serverWith({}), await newClient()];
    session = { id: 'ends meanwhile', person: ada };
    // The session is known.
    await signInTo(server, await registerClient(portal));
    whileAsked = () => server.sessionEnded({ session: 'ends meanwhile' });
    const refused = await allow(server, client);
    expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
    await settled();
    expect(receiver.tokens).toEqual([]);
  });

  // @shows AS-53.7
  test('gives no code for an unknown session if all sessions of the person end meanwhile', async () => {
    const [server, { client, receiver }] = [serverWith({}), await newClient()];
    session = { id: 'not recorded', person: ada };
    whileAsked = () => server.sessionEnded({ person: ada });
    const refused = await allow(server, client);
    expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
    // The session that stays active may continue, and later sessions too.
    session = { id: 'kept', person: ada };
    whileAsked = () => server.sessionEnded({ person: ada, except: 'kept' });
    expect((await allow(server, client)).headers.get('location')).toContain('code=');
    whileAsked = async () => {};
    session = { id: 'later', person: ada };
    expect((await allow(server, client)).headers.get('location')).toContain('code=');
    await settled();
    expect(receiver.tokens).toEqual([]);
  });

  // @shows AS-53.7
  test('gives no code for a session read before the end of all sessions is committed', async () => {
    const [server, { client }] = [serverWith({}), await newClient()];
    session = { id: 'read meanwhile', person: ada };
    const { database } = portal.application;
    const committed = await database.transaction((connection) =>
      server.sessionEndedIn(connection, { person: ada }),
    );
    expect((await allow(server, client)).status).toBe(400);
    await committed();
    expect((await allow(server, client)).headers.get('location')).toContain('code=');
  });

  /** The store, which does something between the record of a sign-in and the authorization. */
  function between(act: () => Promise<void>): Database {
    const inner = portal.application.database;
    let isRecorded = false;
    const once = async () => {
      if (!isRecorded) return;
      isRecorded = false;
      await act();
    };
    return {
      dialect: inner.dialect,
      schema: inner.schema ?? null,
      isUnavailable: (error) => inner.isUnavailable(error),
      readTogether: (work) => inner.readTogether(work),
      async execute(sql, parameters, committed) {
        if (sql.includes('oauth_families')) await once();
        return inner.execute(sql, parameters, committed);
      },
      async transaction(work, committed) {
        await once();
        let records = false;
        const result = await inner.transaction(
          (connection) =>
            work({
              execute(sql, parameters) {
                records ||= sql.includes('INSERT INTO oauth_session_clients');
                return connection.execute(sql, parameters);
              },
            }),
          committed,
        );
        isRecorded = records;
        return result;
      },
    };
  }

  // @shows AS-53.7
  test('gives no code for a session that ends while the code is written', async () => {
    const { client, receiver } = await newClient();
    const ended: string[] = [];
    const server = serverWith(
      {},
      between(async () => {
        ended.push('ends later');
        await portal.server.sessionEnded({ session: 'ends later' });
      }),
    );
    session = { id: 'ends later', person: ada };
    const refused = await allow(server, client);
    // The authorization is blocked, but the server has no fault.
    expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
    expect(ended).toEqual(['ends later']);
    await settled();
    expect(receiver.tokens).toEqual([]);
  });

  // @shows AS-53.3
  test('sends no message if the code of the first of two clicks is never exchanged', async () => {
    const { client, receiver } = await newClient();
    let click = async () => {};
    const server = serverWith(
      {},
      between(() => click()),
    );
    session = { id: 'clicked twice', person: ada };
    const page = await ask(server, authorizationUrl(portal, client));
    const { action, fields } = formOf(await page.text());
    const answer = () => ask(server, action, { ...fields, decision: 'allow' });
    // The other click is answered after this one recorded its sign-in.
    click = async () => {
      click = async () => {};
      expect((await answer()).headers.get('location')).toContain('code=');
    };
    expect((await answer()).headers.get('location')).toContain('code=');
    ahead = 660_000;
    await server.sessionEnded({ session: 'clicked twice' });
    await settled();
    expect(receiver.tokens).toEqual([]);
  });

  // @shows AS-53.7
  test('reads the session before the host signs the person out', async () => {
    const ended: string[] = [];
    const server = serverWith({
      signOut: async () => {
        ended.push(session?.id ?? 'none');
        session = null;
      },
    });
    const { client, receiver } = await newClient();
    session = { id: 'by a client', person: ada };
    const { id_token: hint } = await signInTo(server, client);
    await ask(server, `/oauth/logout?${new URLSearchParams({ id_token_hint: hint })}`);
    await receiver.has(1);
    expect(ended).toEqual(['by a client']);
  });

  // @shows AS-53.7
  test('fails without a sign-out if the host returns a session id that is not a string', async () => {
    let signedOut = 0;
    const server = serverWith({ signOut: async () => void (signedOut += 1) });
    const { client } = await newClient();
    session = { id: 'of a bad host', person: ada };
    const { id_token: hint } = await signInTo(server, client);
    session = { id: 7 as unknown as string, person: ada };
    const url = `/oauth/logout?${new URLSearchParams({ id_token_hint: hint })}`;
    expect((await ask(server, url)).status).toBe(500);
    expect(signedOut).toBe(0);
  });

  // @shows AS-53.7
  test('issues ID tokens without sid if the host does not know the session', async () => {
    const [server, { client }] = [serverWith({ sessionId: async () => null }), await newClient()];
    session = { id: 'not told', person: ada };
    expect(decodeJwt((await signInTo(server, client)).id_token)).not.toHaveProperty('sid');
  });

  // @shows AS-53.7
  test.each([
    { session: '' },
    { session: 7 as unknown as string },
    { person: { provider: '', id: '' } },
  ])('refuses a call of sessionEnded() that names no session or person: %j', async (ended) => {
    await expect(serverWith({}).sessionEnded(ended)).rejects.toThrow('sessionEnded needs');
  });

  // @shows AS-53.8
  test('does not start if the host has no sessionId', () => {
    expect(() => serverWith({ sessionId: undefined as never })).toThrow(
      'needs sessionId in the host contract',
    );
  });

  async function idOf(email: string): Promise<string> {
    const user = await portal.application.accounts.authenticate(email, PASSWORD);
    return user?.reference.id ?? '';
  }
});

describe('a stored session', () => {
  const rows = async (table: string) =>
    (await portal.application.database.execute(`SELECT * FROM ${table}`)).rows;

  // @shows AS-53.9
  test('is removed with the authorizations, 90 days after the last sign-in', async () => {
    const [{ client }, ada] = [await newClient(), await portal.signedIn(ADA)];
    const tokens = await tokensOf(client, ada);
    ahead = 20 * 86_400_000;
    const { refresh_token: next } = (await (
      await refresh(portal, client, tokens.refresh_token)
    ).json()) as Tokens;
    expect(next).toBeDefined();
    await portal.server.prune();
    expect((await rows('oauth_session_clients')).length).toBeGreaterThan(0);
    ahead = 200 * 86_400_000;
    await portal.server.prune();
    await portal.server.prune();
    expect(await rows('oauth_session_clients')).toEqual([]);
    expect(await rows('oauth_sessions')).toEqual([]);
  });

  // @shows AS-53.9
  test('is removed within an hour if the client never used its code, without a message', async () => {
    const [{ client, receiver }, used, ada] = [
      await newClient(),
      await newClient(),
      await portal.signedIn(ADA),
    ];
    await obtainCode(portal, client, ada);
    await tokensOf(used.client, ada);
    ahead = 2_400_000;
    await portal.server.prune();
    const kept = JSON.stringify(await rows('oauth_session_clients'));
    expect(kept).not.toContain(client.id);
    expect(kept).toContain(used.client.id);
    ahead = 80 * 86_400_000;
    await portal.server.prune();
    const user = await portal.application.accounts.authenticate(ADA, PASSWORD);
    await portal.server.sessionEnded({ person: user?.reference ?? { provider: '', id: '' } });
    await used.receiver.has(1);
    await settled();
    expect(receiver.tokens).toEqual([]);
  });

  // @shows AS-53.9
  test('is removed although 250 others that must stay come first', async () => {
    const now = Date.now();
    const add = (id: string, createdAt: number, pruneAfter: number) =>
      portal.application.database.execute(
        `INSERT INTO oauth_session_clients
        (family_id, session_hash, client_id, subject, keeps_access, created_at, prune_after)
        VALUES (?, 'session', 'client', 'subject', 0, ?, ?)`,
        [id, createdAt, pruneAfter],
      );
    for (let count = 0; count < 250; count += 1) await add(`stays ${count}`, now - 86_400_000, 1);
    await add('is old', now - 100 * 86_400_000, 2);
    await portal.server.prune();
    const left = JSON.stringify(await rows('oauth_session_clients'));
    expect(left).not.toContain('is old');
    expect(left.match(/stays/g)).toHaveLength(250);
    await portal.application.database.execute(
      "DELETE FROM oauth_session_clients WHERE session_hash = 'session'",
    );
  });

  // @shows AS-53.9
  test('is removed when an operator erases the person', async () => {
    const [{ client }, grace] = [await newClient(), await portal.signedIn(GRACE)];
    await tokensOf(client, grace);
    const user = await portal.application.accounts.authenticate(GRACE, PASSWORD);
    const person = user?.reference ?? { provider: '', id: '' };
    const before = JSON.stringify(await rows('oauth_sessions'));
    expect(before).toContain(person.id);
    await portal.server.access.erasePerson(person);
    expect(JSON.stringify(await rows('oauth_sessions'))).not.toContain(person.id);
    expect(JSON.stringify(await rows('oauth_session_clients'))).not.toContain(client.id);
  });
});

// @shows AS-53.8
test('without back-channel logout there is no sid, no metadata, no client field and no table', async () => {
  const plain = await startPortal();
  try {
    const client = await registerClient(plain);
    const ada = await plain.signedIn(ADA);
    const response = await exchangeCode(plain, client, await obtainCode(plain, client, ada));
    const tokens = (await response.json()) as Tokens;
    expect(decodeJwt(tokens.id_token)).not.toHaveProperty('sid');
    await signOut(ada);
    expect((await refresh(plain, client, tokens.refresh_token)).status).toBe(200);
    const metadata = await fetch(`${plain.url}/.well-known/openid-configuration`);
    expect(await metadata.text()).not.toMatch(/backchannel|"sid"/);
    await expect(
      registerClient(plain, { metadata: { backchannel_logout_uri: ['https://a.example/b'] } }),
    ).rejects.toThrow('This server does not support the field backchannel_logout_uri');
    const { database } = plain.application;
    await expect(database.execute('SELECT 1 FROM oauth_sessions')).rejects.toThrow(
      'oauth_sessions',
    );
  } finally {
    await plain.close();
  }
});

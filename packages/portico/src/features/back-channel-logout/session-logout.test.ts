// @engines sqlite: test/back-channel-logout.test.ts runs on every engine
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { ConfigurationError, migrate } from '@portico/sql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKeys } from '../../../../../test/support/key-ring.ts';
import {
  startLogoutReceivers,
  type LogoutReceiver,
  type LogoutReceivers,
} from '../../../../../test/support/logout-receiver.ts';
import { QUIET_LOG } from '../../../../../test/support/quiet-log.ts';
import { storedClient } from '../../../../../test/support/stored-client.ts';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import type { AuditEvent } from '../../auditing/audit.ts';
import type { AllowedAuthorization } from '../../authorization/additions.ts';
import type { OAuthServerConfig } from '../../config.ts';
import type { EndedSessions } from '../../host/session-ends.ts';
import type { DeliveryResult } from '../../outbox/message.ts';
import { Outbox } from '../../outbox/outbox.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { FurtherMetadata } from '../../store/further-metadata.ts';
import { outboxMigrations } from '../../store/migrations/outbox.ts';
import { insertClient } from '../../store/sql/client-statements.ts';
import { furtherMetadataMigrations } from '../../store/sql/further-metadata.ts';
import { createLogoutDelivery } from './delivery.ts';
import { backChannelLogout } from './index.ts';
import { LOGOUT_URI, logoutMetadata } from './metadata.ts';
import { backChannelLogoutMigrations } from './migrations.ts';
import { describeSession, SessionLogout } from './session-logout.ts';

const START = 1_795_240_016_123;
const DAY = 86_400_000;
const ADA = { provider: 'accounts', id: 'ada' };
const REQUEST = new Request('https://shop.example/');
const ON = { back_channel_logout: true } as OAuthServerConfig;

let watched: WatchedStore;
let receivers: LogoutReceivers;
let now = START;
let session: unknown = 'desk';
let audited: AuditEvent[] = [];
/** The payloads that the outbox delivered. */
let delivered: string[] = [];
let outbox: Outbox;

beforeAll(async () => {
  watched = await openWatchedStore();
  receivers = await startLogoutReceivers();
  await migrate(watched.database, [
    ...backChannelLogoutMigrations,
    ...furtherMetadataMigrations,
    ...outboxMigrations,
  ]);
});
beforeEach(async () => {
  [now, session, audited, delivered] = [START, 'desk', [], []];
  watched.meanwhile = null;
  outbox = new Outbox({
    database: watched.database,
    isOn: true,
    deliveries: () => ({
      back_channel_logout: async ({ payload }) => {
        delivered.push(payload);
        return { outcome: 'delivered' };
      },
    }),
    clock: () => now,
    random: () => 0.5,
    log: QUIET_LOG,
  });
  const tables = ['session_people', 'session_clients', 'sessions', 'families', 'clients'];
  const others = ['client_metadata', 'outbox_messages', 'outbox_receivers'];
  await watched.emptied(...[...tables, ...others].map((name) => `oauth_${name}`));
});
afterEach(() => outbox.stop());
afterAll(async () => {
  await receivers.close();
  await watched.close();
});

const serverWith = (parts: object = {}) =>
  ({
    database: watched.database,
    config: { code_ttl: 60 },
    clock: () => now,
    store: watched.store,
    furtherMetadata: new FurtherMetadata(watched.database, logoutMetadata, { anyPort: true }),
    outbox,
    audit: async (event: AuditEvent) => void audited.push(event),
    issuer: 'https://shop.example',
    host: { sessionId: async () => session },
    fetching: {
      ...receivers.outbound,
      allowsLoopback: true,
      anyPort: true,
      clock: () => now,
    },
    ...parts,
  }) as unknown as Server;
const logoutOf = (server = serverWith()) =>
  new SessionLogout(server, async () => session as string | null);

async function setMetadata(client: string, values: Readonly<Record<string, readonly string[]>>) {
  const metadata = serverWith().furtherMetadata;
  await watched.database.transaction(async (connection) => {
    await metadata.writing(client, values)?.(connection);
  });
}
const setUri = (client: string, uri = 'https://client.example/logout') =>
  setMetadata(client, { [LOGOUT_URI]: [uri] });

const allowed = (id: string, changes: Partial<AllowedAuthorization> = {}) =>
  ({
    id,
    clientId: 'shop',
    person: ADA,
    subject: 'sub of ada',
    scopes: ['openid'],
    request: REQUEST,
    readAt: now,
    further: {},
    ...changes,
  }) as AllowedAuthorization;
/** Stores an authorization that began in the session. It has tokens if `issued` is a number. */
async function begin(
  id: string,
  changes: Partial<AllowedAuthorization> = {},
  issued: number | null = 0,
): Promise<string> {
  const details = (await logoutOf().details(allowed(id, changes))) ?? {};
  await watched.insert('oauth_families', {
    id,
    client_id: changes.clientId ?? 'shop',
    user_provider: 'accounts',
    user_id: 'ada',
    subject: 'sub of ada',
    scope: 'openid',
    created_at: now,
    expires_at: now + DAY,
    prune_after: now + DAY,
    refresh_generation: issued,
    details: JSON.stringify(details),
  });
  return String(describeSession(details)['sid']);
}
const endIn = (ended: EndedSessions, logout = logoutOf()) =>
  watched.database.transaction((connection) => logout.end(connection, ended));
const messages = async () =>
  (
    await watched.rowsOf<{ readonly receiver: string; readonly payload: string }>(
      'SELECT receiver, payload, expires_at AS until FROM oauth_outbox_messages ORDER BY receiver',
    )
  ).map(({ payload, ...row }) => ({ ...row, payload: JSON.parse(payload) as unknown }));
const revoked = async () =>
  (
    await watched.rowsOf<{ readonly id: string }>(
      'SELECT id FROM oauth_families WHERE revoked_at IS NOT NULL ORDER BY id',
    )
  ).map(({ id }) => id);

describe('an authorization', () => {
  test('stores the sid of the session for its ID tokens', async () => {
    const details = await logoutOf().details(allowed('a'));
    expect(details).toEqual({ session: { sid: expect.stringMatching(/^[\w-]{43}$/) as unknown } });
    const sid = describeSession(details ?? {})['sid'];
    expect(await logoutOf().sid(REQUEST, 'shop')).toBe(sid);
    expect(await logoutOf().sid(REQUEST, 'bank')).not.toBe(sid);
    expect(describeSession({})).toEqual({});
  });

  test('stores nothing without openid or a session', async () => {
    expect(await logoutOf().details(allowed('a', { scopes: ['notes'] }))).toBeUndefined();
    session = null;
    expect(await logoutOf().details(allowed('b'))).toBeUndefined();
    expect(await watched.rowsOf('SELECT * FROM oauth_session_clients')).toEqual([]);
    session = 'null';
    await logoutOf().details(allowed('c'));
    session = null;
    expect(await logoutOf().sid(REQUEST, 'shop')).toBeNull();
  });

  test('is refused if its session has ended', async () => {
    await endIn({ session: 'desk' });
    await expect(logoutOf().details(allowed('a'))).rejects.toMatchObject({
      name: 'AuthorizationPageError',
      detail:
        'the session has ended, or belongs to another person; Host.sessionId must return a new ' +
        'id after a sign-out',
    });
  });

  test.each(['', 7, undefined])('fails if the host returns %o as the session', async (wrong) => {
    session = wrong;
    const problem = 'Host.sessionId must return a string or null';
    await expect(logoutOf().details(allowed('a'))).rejects.toThrow(problem);
    await expect(logoutOf().sid(REQUEST, 'shop')).rejects.toThrow(problem);
  });

  test('keeps its access only with offline_access in the request', async () => {
    for (const [id, scope] of [
      ['a', 'openid'],
      ['b', 'openid offline_access'],
      ['c', 'openid offline_access2'],
    ] as const)
      await begin(id, { further: { scope } });
    await begin('d');
    await setUri('shop');
    await endIn({ session: 'desk' });
    expect(await revoked()).toEqual(['a', 'c', 'd']);
    expect(await watched.rowsOf("SELECT details FROM oauth_families WHERE id = 'b'")).toEqual([
      { details: null },
    ]);
  });
});

describe('the end of a session', () => {
  test('sends one message to each client with a URI that got tokens', async () => {
    const sid = await begin('a');
    await begin('b');
    const other = await begin('c', { clientId: 'bank' });
    await begin('d', { clientId: 'unused' }, null);
    await begin('e', { clientId: 'silent' });
    await begin('f', { clientId: 'flagged' });
    for (const client of ['shop', 'bank', 'unused']) await setUri(client);
    await setMetadata('flagged', { backchannel_logout_session_required: ['true'] });
    session = 'phone';
    await begin('g');
    now += 5;
    await endIn({ session: 'desk' });
    const payload = { subject: 'sub of ada' };
    const until = START + 5 + DAY;
    expect(await messages()).toEqual([
      { receiver: 'bank', payload: { ...payload, sid: other }, until },
      { receiver: 'shop', payload: { ...payload, sid }, until },
    ]);
    expect(await outbox.list()).toMatchObject([
      { kind: 'back_channel_logout' },
      { kind: 'back_channel_logout' },
    ]);
    // A client without a URI keeps its access.
    expect(await revoked()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('delivers the messages and reports the ended access after the commit', async () => {
    await setUri('shop');
    const sid = await begin('a');
    outbox.start();
    const committed = await endIn({ session: 'desk' });
    expect(audited).toEqual([]);
    const before = watched.reads.length;
    const after = committed();
    // The outbox searches at once.
    expect(watched.reads.length).toBe(before + 1);
    await after;
    const event = { type: 'family_revoked', authorization: 'a', clientId: 'shop', person: ADA };
    expect(audited).toEqual([{ ...event, reason: 'session' }]);
    await expect
      .poll(() => delivered, { interval: 1 })
      .toEqual([JSON.stringify({ subject: 'sub of ada', sid })]);
  });

  test('of all sessions of a person stores when it was committed, and reports it anyway', async () => {
    await setUri('shop');
    await begin('a');
    const committed = await endIn({ person: ADA });
    now += 1000;
    await committed();
    expect(await watched.rowsOf('SELECT ended_at FROM oauth_session_people')).toEqual([
      { ended_at: START + 1000 },
    ]);
    expect(audited).toHaveLength(1);
    session = 'later';
    now += 1;
    await begin('b');
    const failing = await endIn({ person: ADA });
    const act = async () => {
      throw new Error('away');
    };
    watched.meanwhile = { before: /UPDATE oauth_session_people SET ended_at/, act };
    await expect(failing()).rejects.toThrow('away');
    expect(audited).toHaveLength(2);
  });
});

test('the records of a person can be forgotten, and old records removed', async () => {
  const contribution = backChannelLogout.start?.(serverWith(), ON);
  const { forgetsPerson, expiring, keepsDetails, sid, sessionEnded } = contribution ?? {};
  await keepsDetails?.(allowed('a'));
  expect(await sid?.(REQUEST, 'shop')).toMatch(/^[\w-]{43}$/);
  expect(await forgetsPerson?.(ADA)).toBe(true);
  expect(await forgetsPerson?.(ADA)).toBe(false);
  await watched.database.transaction(async (connection) => {
    await sessionEnded?.(connection, { session: 'desk' });
  });
  now += DAY;
  const [rows] = [expiring].flat();
  expect(rows).toMatchObject({
    kind: 'sessionClients',
    called: 'records of sign-ins at clients',
    which: 'are no longer needed',
    batch: 100,
  });
  expect(await rows?.remove(10, '')).toEqual({ count: 1, more: false });
});

describe('the feature', () => {
  test('describes itself only if it is on', () => {
    expect(backChannelLogout.start?.(serverWith(), ON)).toMatchObject({
      metadata: { backchannel_logout_supported: true, backchannel_logout_session_supported: true },
      metadataValues: { claims_supported: ['sid'] },
      requestParameters: ['scope'],
      deliveries: { back_channel_logout: expect.any(Function) as unknown },
    });
    for (const off of [{}, { back_channel_logout: false }] as OAuthServerConfig[]) {
      expect(backChannelLogout.start?.(serverWith(), off)).toEqual({});
      expect(backChannelLogout.migrations?.(off)).toEqual([]);
      expect(backChannelLogout.sendsMessages?.(off)).toBe(false);
      expect(logoutMetadata.map((field) => field.isOffered(off))).toEqual([false, false]);
    }
    expect(backChannelLogout.migrations?.(ON)).toBe(backChannelLogoutMigrations);
    expect(backChannelLogout.sendsMessages?.(ON)).toBe(true);
    expect(logoutMetadata.map((field) => field.isOffered(ON))).toEqual([true, true]);
  });

  test('adds the sid only to ID tokens', () => {
    const { describe: claims } = backChannelLogout.start?.(serverWith(), ON) ?? {};
    const details = { session: { sid: 's' } };
    expect(claims?.(details, 'id_token')).toEqual({ sid: 's' });
    expect(claims?.(details, 'introspection')).toEqual({});
  });

  test('needs sessionId in the host', () => {
    const server = serverWith({ host: { sessionId: null } });
    expect(() => backChannelLogout.start?.(server, ON)).toThrow(ConfigurationError);
    expect(() => backChannelLogout.start?.(server, ON)).toThrow(
      'oauth_server:back_channel_logout: needs sessionId in the host contract',
    );
  });

  test('accepts only URIs that the server may request, and only one mark', () => {
    const [uri, mark] = logoutMetadata;
    const problem = (text: string, anyPort = false) => uri?.problem(text, 'web', { anyPort });
    expect(problem('https://client.example/logout')).toBeNull();
    expect(problem('https://client.example:8443/logout', true)).toBeNull();
    expect(problem('https://client.example:8443/logout')).toBe('has a port other than 443');
    expect(problem('http://client.example/logout')).toBe('is not https');
    expect(mark?.problem('true', 'web', { anyPort: false })).toBeNull();
    expect(mark?.problem('false', 'web', { anyPort: false })).toBe('is not true');
  });
});

describe('the delivery of a message', () => {
  let receiver: LogoutReceiver;
  let count = 0;
  beforeEach(async () => {
    count += 1;
    receiver = receivers.receive(`/logout/${count}`);
    await setUri('shop', receiver.url);
  });
  const register = (changes: Partial<Client> = {}) =>
    insertClient(
      watched.database,
      storedClient('shop', START, { idTokenSignedResponseAlg: 'ES256', ...changes }),
    );
  /** A delivery on a server with these keys. */
  function delivering(...algorithms: readonly ('EdDSA' | 'ES256')[]) {
    const keys = createKeys();
    for (const algorithm of algorithms) keys.put(`1000-a.${algorithm}.json`, algorithm);
    const deliver = createLogoutDelivery(serverWith({ keys: keys.ring }));
    return (
      payload = JSON.stringify({ subject: 'ada', sid: 's' }),
      signal = AbortSignal.timeout(10_000),
    ): Promise<DeliveryResult> =>
      deliver({ id: 'm', receiver: 'shop', payload, createdAt: START, attempts: 0 }, signal);
  }

  test('posts a new token each time, signed like the ID tokens of the client', async () => {
    await register();
    const deliver = delivering('EdDSA', 'ES256');
    for (const status of [200, 204]) {
      receiver.status = status;
      expect(await deliver()).toEqual({ outcome: 'delivered' });
    }
    const [{ type, body } = { type: '', body: '' }] = receiver.requests;
    expect([type, [...new URLSearchParams(body).keys()]]).toEqual([
      'application/x-www-form-urlencoded',
      ['logout_token'],
    ]);
    const [one = '', other = ''] = receiver.tokens;
    expect(decodeProtectedHeader(one)).toMatchObject({ alg: 'ES256', typ: 'logout+jwt' });
    const issuedAt = Math.floor(START / 1000);
    expect(decodeJwt(one)).toEqual({
      iss: 'https://shop.example',
      sub: 'ada',
      aud: 'shop',
      iat: issuedAt,
      exp: issuedAt + 120,
      jti: expect.stringMatching(/^[\w-]{43}$/) as unknown,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      sid: 's',
    });
    expect(decodeJwt(other).jti).not.toBe(decodeJwt(one).jti);
  });

  test('is refused for good with a status of the client, and postponed with any other', async () => {
    await register();
    const deliver = delivering('ES256');
    const refused = [400, 404, 499];
    for (const status of [...refused, 201, 302, 399, 408, 429, 500]) {
      receiver.status = status;
      const outcome = refused.includes(status) ? 'refused' : 'postponed';
      const reason = `the client responded to the logout token with the status ${status}`;
      expect(await deliver()).toEqual({ outcome, reason });
    }
  });

  test.each<[string, () => Promise<void>]>([
    ['is unknown', async () => {}],
    ['was revoked', () => register({ revokedAt: START })],
    ['has expired', () => register({ registeredBy: 'registration', createdAt: START - DAY })],
    [
      'has no URI any more',
      async () => {
        await register();
        await setMetadata('shop', { [LOGOUT_URI]: [] });
      },
    ],
  ])('is obsolete if the client %s', async (_, prepare) => {
    await prepare();
    expect(await delivering('ES256')()).toEqual({ outcome: 'obsolete' });
    expect(receiver.requests).toEqual([]);
  });

  test('waits for a key of the algorithm of the client', async () => {
    await register();
    const reason = 'there is no signing key for ES256';
    expect(await delivering('EdDSA')()).toEqual({ outcome: 'postponed', reason });
    expect(receiver.requests).toEqual([]);
  });

  test('is postponed if the request fails, or ends with the time of the attempt', async () => {
    await register();
    await setUri('shop', 'https://10.0.0.7/logout');
    const deliver = delivering('ES256');
    const reason = 'it has an IP address instead of a host name';
    expect(await deliver()).toEqual({ outcome: 'postponed', reason });
    await setUri('shop', receiver.url);
    expect(await deliver(undefined, AbortSignal.abort())).toMatchObject({ outcome: 'postponed' });
    expect(receiver.requests).toEqual([]);
  });

  test('fails for a message that it cannot read', async () => {
    await register();
    await expect(delivering('ES256')('no message')).rejects.toThrow(SyntaxError);
  });

  test('has failed if eight others run to the same host, so that further messages wait', async () => {
    await register();
    receiver.status = 0;
    const deliver = delivering('ES256');
    const ends = new AbortController();
    const running = Array.from({ length: 8 }, () => deliver(undefined, ends.signal));
    await receiver.has(8);
    expect(await deliver()).toEqual({
      outcome: 'failed',
      reason:
        'too many requests were sent to client.example within a minute, or are being sent now',
    });
    ends.abort();
    expect(await Promise.all(running)).toMatchObject(
      Array.from({ length: 8 }, () => ({ outcome: 'postponed' })),
    );
    receiver.status = 200;
    expect(await deliver()).toEqual({ outcome: 'delivered' });
  });
});

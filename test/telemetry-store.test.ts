import { rm } from 'node:fs/promises';
import path from 'node:path';
import {
  configurationWith,
  createAuthorizationServer,
  defineFeature,
  type FeatureRecords,
  type ObservedServer,
} from 'portico';
import { afterEach, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  exchangeCode,
  GRACE,
  obtainCode,
  registerClient,
  requestToken,
  startPortal,
  type PortalOptions,
  type Tokens,
} from './support/portal.ts';
import { record } from './support/telemetry.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function measured(options: PortalOptions = {}) {
  const recording = record();
  const portal = await startPortal({ telemetry: recording.telemetry, ...options });
  opened.push(portal);
  return { portal, recording };
}

const SYSTEMS = { sqlite: 'sqlite', postgres: 'postgresql', mysql: 'mysql' } as const;
const SERVICE = {
  grants: ['client_credentials'],
  scopes: ['notes:read'],
  redirectUris: [],
} as const;

// @shows AS-28.2
test('every store operation is measured by its name and engine, including failed ones', async () => {
  const { portal, recording } = await measured();
  const system = SYSTEMS[portal.application.database.dialect];
  const client = await registerClient(portal, SERVICE);
  expect((await requestToken(portal, client, { grant_type: 'client_credentials' })).status).toBe(
    200,
  );
  const of = (name: string, more = {}) =>
    recording.value('db.client.operation.duration', {
      'db.operation.name': name,
      'db.system.name': system,
      ...more,
    });
  expect([await of('insertClient'), await of('issueClientToken')]).toEqual([1, 1]);
  await portal.application.database.execute('DROP TABLE oauth_access_tokens');
  expect((await requestToken(portal, client, { grant_type: 'client_credentials' })).status).toBe(
    500,
  );
  expect(await of('issueClientToken', { 'error.type': 'fault' })).toBe(1);
  const [span] = recording.spans().filter(({ attributes }) => attributes['error.type'] === 'fault');
  expect(span?.events).toEqual([]);
});

// @shows AS-28.2
test('a feature record may have a method with the name of a pruning operation', async () => {
  const { portal, recording } = await measured();
  const removals: number[] = [];
  const removal = {
    async prune() {
      removals.push(1);
    },
  };
  let records: object = {};
  const removing = defineFeature({
    name: 'removing',
    records: () => ({ removal }) as unknown as Partial<FeatureRecords>,
    start(server) {
      records = server.store;
      return {};
    },
  });
  createAuthorizationServer({
    publicUrl: 'https://app.example',
    config: configurationWith([removing]).parse({ name: 'App', scopes: {} }),
    database: portal.application.database,
    features: [removing],
    telemetry: recording.telemetry,
    host: {
      signedIn: async () => null,
      loadAccount: async () => null,
      holdsPermission: async () => false,
      loginUrl: '/login',
    },
  });
  await (records as { readonly removal: typeof removal }).removal.prune();
  expect(removals).toEqual([1]);
  expect(
    await recording.value('db.client.operation.duration', { 'db.operation.name': 'prune' }),
  ).toBe(1);
});

// @shows AS-28.3
test('the number of valid clients and authorizations is read at a collection, and rarely', async () => {
  const { portal, recording } = await measured();
  const client = await registerClient(portal);
  const revoked = await registerClient(portal);
  await portal.server.clients.revoke(revoked.id);
  for (const person of [ADA, GRACE, ADA]) {
    const code = await obtainCode(portal, client, await portal.signedIn(person), {
      prompt: 'consent',
    });
    const { refresh_token: token } = (await (
      await exchangeCode(portal, client, code)
    ).json()) as Tokens;
    if (person !== GRACE) continue;
    const body = new URLSearchParams({ token, client_id: client.id, client_secret: client.secret });
    expect((await fetch(`${portal.url}/oauth/revoke`, { method: 'POST', body })).status).toBe(200);
  }
  expect(await recording.value('portico.authorizations')).toBe(2);
  expect(await recording.value('portico.clients')).toBe(1);
  await registerClient(portal);
  expect(await recording.value('portico.clients')).toBe(1);
});

// @shows AS-28.3
test('removed rows are counted by their kind', async () => {
  const clock = createClock();
  const { portal, recording } = await measured({ clock: clock.now });
  const client = await registerClient(portal);
  const code = await obtainCode(portal, client, await portal.signedIn(ADA));
  await exchangeCode(portal, client, code);
  clock.advance(90 * 24 * 3600);
  const { families, accessTokens, consentRequests } = await portal.server.prune();
  const removed = (rows: string) =>
    recording.value('portico.store.rows.removed', { 'portico.rows': rows });
  expect([families, accessTokens]).toEqual([1, 1]);
  expect(await removed('authorizations')).toBe(families);
  expect(await removed('access_tokens')).toBe(accessTokens);
  expect(await removed('consent_requests')).toBe(consentRequests);
});

// @shows AS-28.6
test('without its store and keys a server still reports its other values', async () => {
  const { portal, recording } = await measured();
  expect(
    await recording.value('portico.signing_key.age', { 'portico.key_algorithm': 'RS256' }),
  ).toBeGreaterThan(0);
  await portal.application.database.close();
  await rm(path.join(portal.env['STORAGE_DIR'] ?? '', 'oauth', 'keys'), { recursive: true });
  const other = record();
  const away = new Error('away');
  const gone: ObservedServer = {
    retries: () => ({ statements: 3, transactions: 5 }),
    connections: () => null,
    signingKeys: () => Promise.reject(away),
    authorizations: () => Promise.reject(away),
    clients: () => Promise.reject(away),
    outbox: () => Promise.reject(away),
  };
  other.telemetry.observe(gone);
  const told = (await other.series()).map(({ metric, attributes, value }) => [
    metric,
    attributes,
    value,
  ]);
  expect(told).toEqual([
    ['portico.store.retries', { 'portico.retried': 'statement' }, 3],
    ['portico.store.retries', { 'portico.retried': 'transaction' }, 5],
  ]);
  // It rejects if a part could not be reported.
  expect(await recording.value('portico.store.retries')).toBe(0);
});

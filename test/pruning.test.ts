// @engines all, long: it prunes while several processes send requests
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

let portal: RunningPortal;
let client: TestClient;
const clock = createClock();
const DAY = 86_400;

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
  client = await registerClient(portal);
});
afterAll(() => portal.close());

async function rows(table: string): Promise<number> {
  const { rows: found } = await portal.application.database.execute<{ n: number }>(
    `SELECT COUNT(*) AS n FROM ${table}`,
  );
  return Number(found[0]?.n);
}

const TABLES = ['oauth_access_tokens', 'oauth_families', 'oauth_consent_requests'];

describe('the removal of expired rows', () => {
  // @shows AS-13.10, AS-18.8
  test('removes nothing that is valid, and nothing that detects a replay', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    const first = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    clock.advance(20 * DAY);
    const second = (await (await refresh(portal, client, first.refresh_token)).json()) as Tokens;
    clock.advance(9 * DAY);
    await portal.server.prune();
    const third = (await (await refresh(portal, client, second.refresh_token)).json()) as Tokens;
    expect((await callApi(portal, '/api/notes', third.access_token)).status).toBe(200);
    // The first refresh token was used 9 days ago and is valid for another day. If it is used now,
    // it is a replay.
    expect((await refresh(portal, client, first.refresh_token)).status).toBe(400);
    expect((await callApi(portal, '/api/notes', third.access_token)).status).toBe(401);
  });

  // @shows AS-5.16
  test('keeps a code that was used long ago while its family is valid, so that a replay revokes it', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    const first = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    clock.advance(10 * DAY);
    await portal.server.prune();
    const second = (await (await refresh(portal, client, first.refresh_token)).json()) as Tokens;
    expect((await exchangeCode(portal, client, code)).status).toBe(400);
    expect((await callApi(portal, '/api/notes', second.access_token)).status).toBe(401);
  });

  // @shows AS-4.7, AS-18.8, OIDC-2c
  test('leaves no row after everything has expired', async () => {
    await obtainTokens(portal, client, ADA);
    await portal.visitor().get(authorizationUrl(portal, client));
    const unused = await registerClient(portal);
    await portal.application.database.execute(
      "UPDATE oauth_clients SET registered_by = 'registration' WHERE client_id = ?",
      [unused.id],
    );
    clock.advance(31 * DAY);
    const pruned = await portal.server.prune();
    for (const count of Object.values(pruned)) expect(count).toBeGreaterThan(0);
    for (const table of TABLES) expect(await rows(table), table).toBe(0);
    expect(await rows('oauth_subjects')).toBe(1);
    expect(await rows('oauth_clients')).toBe(1);
  });

  // @shows AS-13.10
  test('is also a console command, which reports the number of removed rows', async () => {
    const yesterday = createClock();
    yesterday.advance(-DAY);
    const own = await startPortal({ clock: yesterday.now });
    try {
      const service = await registerClient(own, {
        redirectUris: [],
        grants: ['client_credentials'],
        scopes: ['notes:read'],
      });
      await requestToken(own, service, { grant_type: 'client_credentials' });
      const cwd = path.join(ROOT, 'examples', 'portal');
      const { stdout } = await porticoHere(['oauth:prune', '--json'], { cwd, env: own.env });
      expect(JSON.parse(stdout)).toMatchObject({ access_tokens: 1, consent_requests: 0 });
      // If a table fails, the command removes the rows of the others, and then fails.
      await requestToken(own, service, { grant_type: 'client_credentials' });
      const { database } = own.application;
      await database.execute('ALTER TABLE oauth_single_uses RENAME TO away');
      const failed = await porticoHere(['oauth:prune'], { cwd, env: own.env });
      await database.execute('ALTER TABLE away RENAME TO oauth_single_uses');
      expect(failed.code).toBe(1);
      expect(failed.stderr).toContain('oauth_single_uses');
      const { rows: left } = await database.execute('SELECT id FROM oauth_access_tokens');
      expect(left).toEqual([]);
    } finally {
      await own.close();
    }
  });

  // @shows AS-18.8
  test('happens automatically while tokens are issued, even behind rows that are valid longer', async () => {
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    const issue = () => requestToken(portal, service, { grant_type: 'client_credentials' });
    for (let count = 0; count < 99; count += 1) await issue();
    // The rows look as if the lifetime was changed after they were written.
    await portal.application.database.execute(
      'UPDATE oauth_access_tokens SET expires_at = expires_at * 2',
    );
    for (let count = 0; count < 400; count += 1) {
      clock.advance(600);
      await issue();
    }
    expect(await rows('oauth_access_tokens')).toBeLessThanOrEqual(300);
    await portal.application.database.execute('DELETE FROM oauth_access_tokens');
  });

  // @shows AS-18.8
  test('happens automatically while tokens are issued', async () => {
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    const issue = () => requestToken(portal, service, { grant_type: 'client_credentials' });
    for (let count = 0; count < 60; count += 1) await issue();
    clock.advance(DAY);
    for (let count = 0; count < 60; count += 1) await issue();
    expect(await rows('oauth_access_tokens')).toBeLessThanOrEqual(60);
  });

  // @shows AS-18.8
  test('happens automatically while requests arrive that are never answered', async () => {
    const visitor = await portal.signedIn(ADA);
    for (let count = 0; count < 60; count += 1) await visitor.get(authorizationUrl(portal, client));
    clock.advance(DAY);
    for (let count = 0; count < 60; count += 1) await visitor.get(authorizationUrl(portal, client));
    expect(await rows('oauth_consent_requests')).toBeLessThanOrEqual(60);
  });
});

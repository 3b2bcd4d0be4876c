// @engines sqlite: test/jwt-bearer.test.ts runs on every engine
import { migrate } from '@portico/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import type { Contribution } from '../../feature.ts';
import type { Server } from '../../server.ts';
import { jwtBearer } from './index.ts';
import { jwtBearerMigrations } from './migrations.ts';

const A_DAY = 86_400_000;
const LIFETIME = 600;

let watched: WatchedStore;

beforeAll(async () => {
  watched = await openWatchedStore();
  await migrate(watched.database, jwtBearerMigrations);
});
afterAll(() => watched.close());

const start = (config: object, now = 0): Contribution =>
  jwtBearer.start?.(
    { database: watched.database, clock: () => now } as unknown as Server,
    { access_token_ttl: LIFETIME, ...config } as never,
  ) ?? {};

test('the grant exists only with its setting', () => {
  const migrations = (config: object) => jwtBearer.migrations?.(config as never);
  for (const config of [{}, { jwt_bearer_grant: false }])
    expect([start(config), migrations(config)]).toEqual([{}, []]);
  expect(migrations({ jwt_bearer_grant: true })).toBe(jwtBearerMigrations);
  const { metadata, grants, members } = start({ jwt_bearer_grant: true });
  expect(metadata).toEqual({
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
  });
  expect(grants).toMatchObject([
    {
      name: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      begins: 'organization',
      clients: 'confidential',
    },
  ]);
  expect(Object.keys(members?.({} as never) ?? {})).toEqual(['organizationAccess']);
});

test('only authorizations that an organization gave are revoked together', () => {
  const { revokesAlso } = start({ jwt_bearer_grant: true });
  const other = (details: Readonly<Record<string, unknown>>) => revokesAlso?.(details, details);
  expect([other({ given_by: 'https://idp.example' }), other({})]).toEqual([true, false]);
});

test('a record is removed ninety days after its last token has expired', async () => {
  const pair = { user_provider: 'users', user_id: '1', client_id: 'one' };
  const times = { used_at: 0, allowed_at: 0, ended_at: null };
  await watched.emptied('oauth_given_access');
  await watched.insert('oauth_given_access', { pair_hash: 'a', ...pair, ...times });
  const last = 90 * A_DAY + LIFETIME * 1000;
  const remove = async (now: number) => {
    const { expiring } = start({ jwt_bearer_grant: true }, now);
    expect(expiring).toMatchObject({
      kind: 'givenAccess',
      called: 'records of access that organizations gave',
      which: 'have not been used for ninety days',
      batch: 100,
    });
    return expiring?.remove(100, '');
  };
  const found = [await remove(last), await remove(last + 1), await remove(last + 1)];
  expect(found.map((each) => (typeof each === 'object' ? each.count : each))).toEqual([0, 1, 0]);
});

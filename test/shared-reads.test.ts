// @engines postgres: reads share a round trip only on PostgreSQL
import { openDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApplicationPool, type ApplicationPool } from './support/application-pool.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import {
  ADA,
  callApi,
  GRACE,
  obtainTokens,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** Requests that ask for their own token at the same time. */
const AT_ONCE = 100;
/** The rounds of each test. */
const ROUNDS = 4;
/** The number of clients. Each client has separate tokens. */
const CLIENTS = 20;

interface Owned {
  readonly client: TestClient;
  readonly token: string;
}

let store: TestDatabase;
let pool: ApplicationPool;
let portal: RunningPortal;
/** Another application on the same database. It ends the portal's connections. */
let beside: ReturnType<typeof openDatabase>;
const owned: Owned[] = [];
/** Tokens of people, with the subject of each. */
const people: { readonly token: string; readonly sub: string }[] = [];

const at = <T>(list: readonly T[], index: number) => list[index % list.length] as T;

/** A busy machine may notice late that the server has closed an idle connection. */
const CLOSE = { Connection: 'close' };

/**
 * Asks about a token. The answer must be about this token, or say that the store is unavailable.
 * Returns the status.
 */
async function askForOwn(index: number): Promise<number> {
  if (index % 2 === 0) {
    const { token, sub } = at(people, index / 2);
    const headers = { ...CLOSE, Authorization: `Bearer ${token}` };
    const response = await fetch(`${portal.url}/oauth/userinfo`, { headers });
    const answer = (await response.json()) as Readonly<Record<string, unknown>>;
    if (response.status !== 503)
      expect({ status: response.status, sub: answer['sub'] }).toEqual({ status: 200, sub });
    return response.status;
  }
  const { client, token } = at(owned, index);
  const response = await fetch(`${portal.url}/oauth/introspect`, {
    method: 'POST',
    headers: { ...CLOSE, Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
    body: new URLSearchParams({ token }),
  });
  const answer = (await response.json()) as Readonly<Record<string, unknown>>;
  if (response.status !== 503)
    expect({ status: response.status, active: answer['active'], id: answer['client_id'] }).toEqual({
      status: 200,
      active: true,
      id: client.id,
    });
  return response.status;
}

const askForAll = () =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, index) => askForOwn(index)));

/** Reads by the application between them, every third of which fails. */
function readBetween(): Promise<unknown> {
  const { database } = portal.application;
  return Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => {
      // A subquery with several rows fails only while it runs.
      const first = index % 3 === 0 ? '(SELECT 1 FROM oauth_clients)' : '1';
      const sql = `SELECT ${first} AS failing, ? AS mine`;
      const outcome = await database
        .readTogether(() => database.execute<{ mine: unknown }>(sql, [index]))
        .then(
          ({ rows }) => Number(rows[0]?.mine),
          (error: unknown) => {
            if (database.isUnavailable(error)) return 'unavailable';
            return /more than one row/.test(String(error)) ? 'fails' : error;
          },
        );
      expect([index % 3 === 0 ? 'fails' : index, 'unavailable']).toContain(outcome);
    }),
  );
}

/** Ends all connections of the portal. */
const killConnections = () =>
  beside.execute(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );

describe.each(['of Portico', "of the application's pool"])(
  'shared database reads on connections %s',
  (connections) => {
    beforeAll(async () => {
      store = await createDatabase('');
      pool = openApplicationPool(store.url);
      beside = openDatabase(store.url, { directory: '/', poolSize: 1 });
      portal = await startPortal(
        connections === 'of Portico' ? { databaseUrl: store.url } : { database: pool.borrow() },
      );
      owned.length = people.length = 0;
      for (let index = 0; index < CLIENTS; index += 1) {
        const client = await registerClient(portal, {
          grants: ['client_credentials', 'introspection'],
          redirectUris: [],
          scopes: ['notes:read'],
        });
        const answer = await requestToken(portal, client, { grant_type: 'client_credentials' });
        const { access_token: token } = (await answer.json()) as { readonly access_token: string };
        owned.push({ client, token });
      }
      const client = await registerClient(portal);
      for (const email of [ADA, GRACE]) {
        const { access_token: token } = await obtainTokens(portal, client, email);
        const { sub } = (await (await callApi(portal, '/oauth/userinfo', token)).json()) as {
          readonly sub: string;
        };
        people.push({ token, sub });
      }
    });
    afterAll(async () => {
      await beside.close();
      await portal.close();
      await pool.end();
      await store.drop();
    });

    // @shows AS-18.27
    test('answer each of hundreds of simultaneous requests about its token', async () => {
      expect(await askForAll()).toContain(200);
    });

    // @shows AS-18.27
    test('do not fail because a read that was sent with them failed', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const [statuses] = await Promise.all([askForAll(), readBetween(), readBetween()]);
        expect(statuses).toContain(200);
      }
    });

    // @shows AS-18.27
    test('return the correct response or a server error if connections are lost', async () => {
      const statuses = new Set<number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const asking = askForAll();
        await killConnections();
        for (const status of await asking) statuses.add(status);
      }
      expect([...statuses]).toContain(200);
      expect(await askForAll()).toContain(200);
    });
  },
);

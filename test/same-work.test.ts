// @engines sqlite, long: it counts the work of this process, including the statements of SQLite
import { createPrivateKey, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSERTION_TYPE, signed } from './support/assertions.ts';
import {
  differencesAtOnce,
  differencesOf,
  firstDifferencesOf,
  isSlow,
} from './support/timing/ledgers.ts';
import { ROWS } from './support/timing/rows.ts';
import { startWorld, type World } from './support/timing/world.ts';

/**
 * Requests that get the same error must cost the same counted work. docs/assurance.md says how long
 * this takes.
 */

describe.each([
  ['also if secrets may have been hashed elsewhere', true],
  ['if secrets cannot have been hashed elsewhere', false],
])('refusals need the same work, %s', (_, takesImported) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ hashing: 'argon2id', takesImported });
  });
  afterAll(() => world.close());

  const rows = ROWS.filter((row) => takesImported || row.name.startsWith('Client'));
  // @shows AS-9.3, AS-23.6, AS-41.4
  test.each(rows.map((row) => [row.name, ...row.classes, row] as const))(
    '%s: %s, and %s',
    async (_name, _one, _other, row) => {
      expect(await differencesOf(row, world)).toEqual([]);
    },
  );
});

const SLOW = ROWS.filter(isSlow);

// @shows AS-9.3
test.each(SLOW)(
  '$name: the first request of a process needs the same work in each case',
  async (row) => {
    expect(await firstDifferencesOf(row)).toEqual([]);
  },
);

// @shows AS-9.3
test.each(SLOW)('$name: two simultaneous requests need the same work', async (row) => {
  expect(await differencesAtOnce(row)).toEqual([]);
});

describe('the placeholder keys for unknown clients', () => {
  /**
   * The private parts of those keys. They are public, because RFC 7515 appendix A.3 and RFC 8037
   * appendix A.1 contain them.
   */
  const PRINTED = [
    {
      algorithm: 'ES256',
      jwk: {
        kty: 'EC',
        crv: 'P-256',
        x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
        y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
        d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
      },
    },
    {
      algorithm: 'EdDSA',
      jwk: {
        kty: 'OKP',
        crv: 'Ed25519',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
      },
    },
  ] as const;

  // @shows AS-23.2
  test.each(PRINTED)(
    'match no client, even with a valid signature: $algorithm',
    async ({ algorithm, jwk }) => {
      const world = await startWorld({ hashing: 'argon2id', takesImported: false });
      try {
        const { client } = await world.server.clients.create({
          name: 'Service',
          redirectUris: [],
          scopes: ['notes:read'],
          grants: ['client_credentials'],
        });
        const key = {
          algorithm,
          privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
          kid: '',
          jwk,
        };
        for (const id of [client.id, '0'.repeat(32)]) {
          const now = Math.floor(world.now / 1000);
          const claims = {
            iss: id,
            sub: id,
            aud: world.url,
            iat: now,
            exp: now + 60,
            jti: randomUUID(),
          };
          const form = {
            grant_type: 'client_credentials',
            client_assertion_type: ASSERTION_TYPE,
            client_assertion: signed(key, { alg: algorithm }, claims),
          };
          const body = new URLSearchParams(form);
          const answer = await world.send(
            new Request(`${world.url}/oauth/token`, { method: 'POST', body }),
          );
          expect([answer.status, await answer.json()]).toMatchObject([
            401,
            { error: 'invalid_client' },
          ]);
        }
      } finally {
        await world.close();
      }
    },
  );
});

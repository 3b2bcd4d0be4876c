// @engines all, long: several processes race
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimsOf, headerOf, newKey, signed, withAssertion } from './support/assertions.ts';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import { requestToken, startPortal, type RunningPortal } from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/** Two server processes on one database get the same assertion at the same moment. */
const ON = { oauth_server: { private_key_jwt: true } };

let one: RunningPortal;
let other: RunningPortal;
let process2: RunningProcess;

beforeAll(async () => {
  one = await startPortal({ config: ON });
  ({ other, process: process2 } = await startBeside(one, {}, ON));
});
afterAll(async () => {
  await process2.stop();
  await one.close();
});

// @shows AS-23.4, RFC7523-3c
test('exactly one process accepts a client assertion that is sent to all at once', async () => {
  const key = newKey('ES256');
  const { client } = await one.server.clients.create({
    name: 'A service',
    scopes: ['notes:read'],
    grants: ['client_credentials'],
    jwks: { keys: [key.jwk] },
  });
  for (let round = 0; round < SCALE.assertionRounds; round += 1) {
    const assertion = signed(
      key,
      headerOf(key),
      claimsOf(client.id, one.server.issuer, Date.now()),
    );
    const form = { grant_type: 'client_credentials', ...withAssertion(assertion) };
    const statuses = await Promise.all(
      [one, other, one, other].map(async (at) => (await requestToken(at, null, form)).status),
    );
    expect(statuses.filter((status) => status === 200)).toEqual([200]);
    // The other requests are replays. There are so many that the server slows some of them down.
    expect(statuses.filter((status) => status !== 200 && status !== 401 && status !== 429)).toEqual(
      [],
    );
  }
});

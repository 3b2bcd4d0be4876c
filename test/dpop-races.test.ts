// @engines all, long: several processes race
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import { newDpopKey, requestWithProof, tokenProof } from './support/dpop.ts';
import { registerClient, startPortal, type RunningPortal } from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/**
 * Two server processes on one database get the same proof at the same moment. Each process also
 * accepts the nonces of the other.
 */
const config = { oauth_server: { dpop: 'accept' } };
const withNonces = { oauth_server: { dpop: 'accept', dpop_nonces: true } };

const closing: (() => Promise<unknown>)[] = [];
let one: RunningPortal;
let other: RunningPortal;

beforeAll(async () => {
  one = await startPortal({ config });
  closing.push(() => one.close());
  let process2: RunningProcess;
  ({ other, process: process2 } = await startBeside(one, {}, config));
  closing.push(() => process2.stop());
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const newService = () =>
  registerClient(one, { redirectUris: [], scopes: ['notes:read'], grants: ['client_credentials'] });
const FORM = { grant_type: 'client_credentials' };

// @shows AS-24.3, RFC9449-11.1
test('exactly one of several processes accepts the same DPoP proof', async () => {
  const [key, client] = [newDpopKey(), await newService()];
  for (let round = 0; round < SCALE.raceRounds; round += 1) {
    const proof = tokenProof(key, one.server.issuer, Date.now());
    const statuses = await Promise.all(
      [one, other, one, other].map(
        async (at) => (await requestWithProof(at, client, proof, FORM)).status,
      ),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400]);
  }
});

// @shows AS-24.7
test('a DPoP nonce of either process is valid in both', async () => {
  const { other: third, process: process3 } = await startBeside(one, {}, withNonces);
  closing.push(() => process3.stop());
  const { other: fourth, process: process4 } = await startBeside(one, {}, withNonces);
  closing.push(() => process4.stop());
  const [key, client] = [newDpopKey(), await newService()];
  for (const [from, to] of [
    [third, fourth],
    [fourth, third],
  ] as const) {
    const proof = (claims = {}) => tokenProof(key, one.server.issuer, Date.now(), claims);
    const refused = await requestWithProof(from, client, proof(), FORM);
    expect(refused.status).toBe(400);
    const nonce = refused.headers.get('dpop-nonce');
    expect((await requestWithProof(to, client, proof({ nonce }), FORM)).status).toBe(200);
  }
});

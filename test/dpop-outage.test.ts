import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newDpopKey, requestWithProof, tokenProof } from './support/dpop.ts';
import { createLossyStore, type LossyStore } from './support/lossy-store.ts';
import {
  createLosingStore,
  openStore,
  SINGLE_USE,
  type LosingStore,
  type OpenedStore,
} from './support/opened-store.ts';
import {
  ADA,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { boundHeaders } from './support/proofs.ts';

/**
 * The store is lost while it records the use of a proof, or while it records the result of the
 * request with the proof.
 */
const key = newDpopKey();
let opened: OpenedStore;
/** Loses commits. */
let store: LossyStore;
/** Loses the row of a proof. */
let rows: LosingStore;
let portal: RunningPortal;

beforeAll(async () => {
  opened = await openStore();
  store = createLossyStore(opened.inner);
  rows = createLosingStore(store.database);
  portal = await startPortal({
    database: rows.database,
    config: { oauth_server: { dpop: 'accept' } },
  });
});
beforeEach(() => {
  store.loses = null;
  store.isAway = false;
  rows.loses = null;
});
afterAll(async () => {
  await portal.close();
  await opened.close();
});

const newProof = (of = key) => tokenProof(of, portal.server.issuer, Date.now());
const statusOf = async (answer: Promise<Response>) => (await answer).status;

async function exchange(client: TestClient): Promise<Tokens> {
  const code = await obtainCode(portal, client, await portal.signedIn(ADA));
  const response = await requestWithProof(portal, client, newProof(), {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

const refresh = (client: TestClient, token: string, proof: string | null) =>
  requestWithProof(portal, client, proof, { grant_type: 'refresh_token', refresh_token: token });

describe.each([true, false])('DPoP for a client that is public: %s', (isPublic) => {
  // @shows AS-18.24, AS-24.4
  test('after a lost refresh response, answers a retry only for the same key, with a new proof', async () => {
    const client = await registerClient(portal, { public: isPublic });
    const { refresh_token: token } = await exchange(client);
    const proof = newProof();
    store.loses = 'after it took effect';
    expect(await statusOf(refresh(client, token, proof))).toBe(503);
    store.isAway = false;
    expect(await statusOf(refresh(client, token, proof))).toBe(400);
    // The client proved possession of a key. If it now sends another key, its authorization ends,
    // because the token was already used.
    for (const other of isPublic ? [newProof(newDpopKey()), null] : [])
      expect(await statusOf(refresh(client, token, other))).toBe(400);
    const answer = await refresh(client, token, newProof());
    expect(answer.status).toBe(200);
    const next = (await answer.json()) as Tokens;
    expect(next.token_type).toBe('DPoP');
    expect(await statusOf(refresh(client, next.refresh_token, newProof()))).toBe(200);
  });

  // @shows AS-24.3
  test.each(['after it took effect', 'before it took effect'] as const)(
    'if the row of a proof is lost %s: 503, the code or token stays valid, and a new proof works',
    async (how) => {
      const client = await registerClient(portal, { public: isPublic });
      const { refresh_token: token } = await exchange(client);
      const proof = newProof();
      rows.loses = { statement: SINGLE_USE, afterwards: how === 'after it took effect' };
      expect(await statusOf(refresh(client, token, proof))).toBe(503);
      for (const again of how === 'after it took effect' ? [proof] : [])
        expect(await statusOf(refresh(client, token, again))).toBe(400);
      const answer = await refresh(client, token, newProof());
      expect(answer.status).toBe(200);
      const { access_token: bound } = (await answer.json()) as Tokens;
      const url = `${portal.url}/api/notes`;
      rows.loses = { statement: SINGLE_USE, afterwards: how === 'after it took effect' };
      const headers = boundHeaders(key, 'GET', url, bound);
      expect(await statusOf(fetch(url, { headers }))).toBe(503);
      expect(await statusOf(fetch(url, { headers }))).toBe(
        how === 'after it took effect' ? 401 : 200,
      );
      expect(await statusOf(fetch(url, { headers: boundHeaders(key, 'GET', url, bound) }))).toBe(
        200,
      );
    },
  );
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { claimsOf, headerOf, newKey, signed, withAssertion } from './support/assertions.ts';
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
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';

/**
 * The store is lost while it records the use of an assertion, or while it records the result of the
 * request with the assertion.
 */
const key = newKey('ES256');
let opened: OpenedStore;
/** Loses commits. */
let store: LossyStore;
/** Loses the row of an assertion. */
let rows: LosingStore;
let portal: RunningPortal;
let id: string;

beforeAll(async () => {
  opened = await openStore();
  store = createLossyStore(opened.inner);
  rows = createLosingStore(store.database);
  portal = await startPortal({
    database: rows.database,
    config: { oauth_server: { private_key_jwt: true } },
  });
  const { client } = await portal.server.clients.create({
    name: 'An application',
    redirectUris: [REDIRECT_URI],
    scopes: ['notes:read'],
    grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    jwks: { keys: [key.jwk] },
  });
  ({ id } = client);
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

const newAssertion = () =>
  signed(key, headerOf(key), claimsOf(id, portal.server.issuer, Date.now()));
const ask = (form: Readonly<Record<string, string>>, assertion = newAssertion()) =>
  requestToken(portal, null, { ...form, ...withAssertion(assertion) });
const asItself = { grant_type: 'client_credentials' };

describe('the use of a client assertion during a failure of the store', () => {
  // @shows AS-23.4, AS-18.24
  test('returns 503 if it was stored but the reply was lost, and the assertion is then used up', async () => {
    const assertion = newAssertion();
    rows.loses = { statement: SINGLE_USE, afterwards: true };
    expect((await ask(asItself, assertion)).status).toBe(503);
    expect((await ask(asItself, assertion)).status).toBe(401);
    expect((await ask(asItself)).status).toBe(200);
  });

  // @shows AS-23.4
  test('returns 503 if it was not stored, and the assertion then still works once', async () => {
    const assertion = newAssertion();
    rows.loses = { statement: SINGLE_USE, afterwards: false };
    expect((await ask(asItself, assertion)).status).toBe(503);
    expect((await ask(asItself, assertion)).status).toBe(200);
    expect((await ask(asItself, assertion)).status).toBe(401);
  });
});

// @shows AS-18.24, AS-23.4
test('a refresh whose response was lost can be retried with a new client assertion', async () => {
  const code = await obtainCode(portal, { id, secret: '' }, await portal.signedIn(ADA), {
    scope: 'notes:read',
  });
  const exchanged = await ask({
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  });
  const { refresh_token } = (await exchanged.json()) as Tokens;
  const refreshing = { grant_type: 'refresh_token', refresh_token };
  store.loses = 'after it took effect';
  expect((await ask(refreshing)).status).toBe(503);
  store.isAway = false;
  const answer = await ask(refreshing);
  expect(answer.status).toBe(200);
  const next = (await answer.json()) as Tokens;
  expect((await ask({ ...refreshing, refresh_token: next.refresh_token })).status).toBe(200);
});

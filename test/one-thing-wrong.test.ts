// @engines sqlite: the code decides, and not the store
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  errorOf,
  exchangeCode,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';

/**
 * Requests with exactly one mistake, which no other check would reject. Mutation testing found
 * them.
 */
let portal: RunningPortal;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
});
afterAll(() => portal.close());

test('a code is exchanged only with the redirect URI of its request, not a different one', async () => {
  const other = 'https://client.example/other';
  const client = await registerClient(portal, { redirectUris: [REDIRECT_URI, other] });
  const code = await obtainCode(portal, client, await portal.signedIn(ADA));
  const response = await exchangeCode(portal, client, code, { redirect_uri: other });
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toBe('invalid_grant');
});

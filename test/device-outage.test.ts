// @engines all: the store becomes unavailable
import { expect, onTestFinished, test } from 'vitest';
import {
  decide,
  DEVICES,
  poll,
  registerDevice,
  requestCodes,
  tokensOf,
  type Begun,
} from './support/device.ts';
import { createLosingStore, openStore } from './support/opened-store.ts';
import { ADA, startPortal } from './support/portal.ts';

async function openPortal() {
  const opened = await openStore();
  onTestFinished(() => opened.close());
  const store = createLosingStore(opened.inner);
  const portal = await startPortal({ database: store.database, config: DEVICES });
  onTestFinished(() => portal.close());
  return { store, portal, tv: await registerDevice(portal) };
}

const STATEMENT = /INTO oauth_device_codes/;

// @shows AS-48.1
test('a device gets its codes even if the database reply to the insert was lost', async () => {
  const { store, portal, tv } = await openPortal();
  store.loses = { statement: STATEMENT, afterwards: true };
  const response = await requestCodes(portal, tv, { scope: 'notes:read' });
  expect(response.status).toBe(200);
  const begun = (await response.json()) as Begun;
  expect((await decide(await portal.signedIn(ADA), begun)).status).toBe(200);
  await tokensOf(await poll(portal, tv, begun));
});

// @shows AS-48.1
test('a device gets 503 if its codes were not stored', async () => {
  const { store, portal, tv } = await openPortal();
  store.loses = { statement: STATEMENT, afterwards: false };
  expect((await requestCodes(portal, tv, { scope: 'notes:read' })).status).toBe(503);
  expect((await requestCodes(portal, tv, { scope: 'notes:read' })).status).toBe(200);
});

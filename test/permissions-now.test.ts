import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  ADA,
  callApi,
  GRACE,
  introspect,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/**
 * Permissions always have their current value, although reads that belong together share the result
 * of one query.
 */
let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal);
});
afterAll(() => portal.close());
// A test that failed may have left a different state.
beforeEach(async () => {
  await portal.restore(ADA);
  for (const email of [ADA, GRACE]) await portal.grant(email, EDIT);
});

const EDIT = 'notes.edit';
const accounts = () => portal.application.accounts;
const reference = async (email: string) => {
  const { rows } = await portal.application.database.execute<{ provider: string; id: string }>(
    'SELECT provider, id FROM host_accounts WHERE email = ?',
    [email],
  );
  return rows[0] ?? { provider: '', id: '' };
};
const scopesOf = async (token: string) =>
  String((await introspect(portal, token))['scope']).split(' ');

// @shows AS-18.16
test('a granted or removed permission applies from the next call, and only to its person', async () => {
  const ada = (await obtainTokens(portal, client, ADA)).access_token;
  const grace = (await obtainTokens(portal, client, GRACE)).access_token;
  const initially = await Promise.all([scopesOf(ada), scopesOf(grace)]);
  expect(initially[0]).toContain('notes:write');
  for (let round = 0; round < 2; round += 1) {
    await portal.deny(ADA, EDIT);
    expect(await scopesOf(ada)).not.toContain('notes:write');
    expect(await scopesOf(grace)).toEqual(initially[1]);
    await portal.grant(ADA, EDIT);
    expect(await Promise.all([scopesOf(ada), scopesOf(grace)])).toEqual(initially);
  }
});

test('a suspended account counts as missing from the next call', async () => {
  const { access_token: token } = await obtainTokens(portal, client, ADA);
  const status = async () => (await callApi(portal, '/oauth/userinfo', token)).status;
  expect(await status()).toBe(200);
  await portal.suspend(ADA);
  expect(await status()).toBe(401);
  await portal.restore(ADA);
  expect(await status()).toBe(200);
});

test('readTogether() does not use permissions that it read for a different person', async () => {
  const [ada, grace] = [await reference(ADA), await reference(GRACE)];
  await portal.deny(GRACE, EDIT);
  await portal.application.database.readTogether(async () => {
    const holds = (person: typeof ada) => accounts().holdsPermission(person, EDIT);
    // From the second time on, the name is read in the same query.
    for (let time = 0; time < 2; time += 1) {
      await accounts().find(ada);
      expect([await holds(ada), await holds(grace)]).toEqual([true, false]);
      await accounts().find(grace);
      expect([await holds(ada), await holds(grace)]).toEqual([true, false]);
    }
  });
});

test('readTogether() reads a permission again after it was changed inside it', async () => {
  const person = await reference(ADA);
  const holds = () => accounts().holdsPermission(person, EDIT);
  await portal.application.database.readTogether(holds);
  await portal.application.database.readTogether(async () => {
    await accounts().find(person);
    expect(await holds()).toBe(true);
    await portal.deny(ADA, EDIT);
    expect(await holds()).toBe(false);
    await accounts().find(person);
    expect(await holds()).toBe(false);
    await portal.grant(ADA, EDIT);
    expect(await holds()).toBe(true);
  });
});

test('a read that starts after readTogether() has ended returns the current values', async () => {
  const person = await reference(ADA);
  const holds = () => accounts().holdsPermission(person, EDIT);
  const denied = Promise.withResolvers<void>();
  let later: Promise<boolean> = Promise.resolve(true);
  await portal.application.database.readTogether(holds);
  await portal.application.database.readTogether(async () => {
    await accounts().find(person);
    later = denied.promise.then(holds);
    expect(await holds()).toBe(true);
  });
  await portal.deny(ADA, EDIT);
  denied.resolve();
  expect(await later).toBe(false);
});

test('a missing account, or one of a different provider, has no permission', async () => {
  const { provider, id } = await reference(ADA);
  const { database } = portal.application;
  await database.readTogether(() => accounts().holdsPermission({ provider, id }, EDIT));
  const asked = [
    { provider, id: `${id} ` },
    { provider, id: id.toUpperCase() },
    { provider: 'others', id },
    { provider, id: `${id}\0` },
  ];
  for (const other of asked) {
    await database.readTogether(async () => {
      expect(await accounts().find(other)).toBeNull();
      expect(
        await accounts()
          .holdsPermission(other, EDIT)
          .catch(() => false),
      ).toBe(false);
    });
  }
});

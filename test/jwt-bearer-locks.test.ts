// @engines servers: a statement waits for a row that another transaction locks
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOOKING_AT_LOCKS, someoneWaits } from './support/database.ts';
import {
  accountOf,
  assertionFor,
  link,
  present,
  registerAssistant,
  startIdentityProvider,
  type IdentityProvider,
} from './support/identity-provider.ts';
import { ADA, startPortal, type RunningPortal } from './support/portal.ts';

let idp: IdentityProvider;
let portal: RunningPortal;

beforeAll(async () => {
  idp = await startIdentityProvider();
  portal = await startPortal({ config: idp.config });
});
afterAll(async () => {
  await portal.close();
  await idp.close();
});

// @shows AS-31.8
test('erasing a person does not block access that is ended or allowed at the same time', async () => {
  const { database } = portal.application;
  const assistant = await registerAssistant(portal);
  await link(portal, ADA);
  await present(portal, assistant, assertionFor(portal, assistant, idp.key));
  const person = await accountOf(portal, ADA);
  await portal.server.access.revokePerson(person);
  const [held, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // These statements lock rows in the same order as when access is ended or allowed.
  const holding = database.transaction(async (connection) => {
    await connection.execute('UPDATE oauth_given_access_ended SET ended_at = ended_at + 1');
    held.resolve();
    await goOn.promise;
    const locking = 'SELECT pair_hash FROM oauth_given_access FOR UPDATE NOWAIT';
    return (await connection.execute(locking)).rows;
  });
  await held.promise;
  const erased = portal.server.access.erasePerson(person);
  await expect.poll(() => someoneWaits(database), LOOKING_AT_LOCKS).toBe(true);
  goOn.resolve();
  expect(await holding).toHaveLength(1);
  await erased;
  const { rows } = await database.execute(
    "SELECT 1 FROM oauth_given_access_ended WHERE user_id <> ''",
  );
  expect(rows).toEqual([]);
});

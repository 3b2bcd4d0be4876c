// @engines servers: a statement waits for a row that another transaction has locked
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someoneWaits, LOOKING_AT_LOCKS } from './support/database.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal);
  await portal.application.database.execute(
    "UPDATE oauth_clients SET registered_by = 'registration' WHERE client_id = ?",
    [client.id],
  );
});
afterAll(() => portal.close());

const subjectOf = async (tokens: Tokens) =>
  (
    (await (await callApi(portal, '/oauth/userinfo', tokens.access_token)).json()) as {
      sub: string;
    }
  ).sub;

/**
 * The client's last use is two days ago. So the server records the next use between the read of the
 * person's subject and the grant. The test can hold an answer at this point.
 */
const USED = 'UPDATE oauth_clients SET used_at = ? WHERE client_id = ?';

// @shows AS-31.8
test('an answer to a consent request grants nothing if the person is erased meanwhile', async () => {
  const { database } = portal.application;
  const before = await obtainTokens(portal, client, ADA);
  const subject = await subjectOf(before);
  const { items } = await portal.server.access.list();
  const person = items[0]?.person ?? { provider: '', id: '' };
  const visitor = await portal.signedIn(ADA);
  const page = await visitor.visit(authorizationUrl(portal, client));

  const used = [Date.now() - 2 * 86_400_000, client.id];
  await database.execute(USED, used);
  const [held, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.transaction(async (connection) => {
    await connection.execute(USED, used);
    held.resolve();
    await goOn.promise;
  });
  await held.promise;
  const answering = visitor.submit(page, { decision: 'allow' });
  try {
    await expect.poll(() => someoneWaits(database), LOOKING_AT_LOCKS).toBe(true);
    await portal.server.access.erasePerson(person);
  } finally {
    goOn.resolve();
    await holding;
  }
  const answer = await answering;
  expect(answer.status).toBe(400);
  const { rows } = await database.execute('SELECT 1 FROM oauth_families WHERE subject = ?', [
    subject,
  ]);
  expect(rows).toEqual([]);
  const again = await obtainTokens(portal, client, ADA);
  expect(await subjectOf(again)).not.toBe(subject);
});

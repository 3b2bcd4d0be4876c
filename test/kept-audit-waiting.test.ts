import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { BorrowedDatabase, OpenedDatabase, AuditEvent } from 'portico';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openStore, withExecute, type OpenedStore } from './support/opened-store.ts';
import {
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** A store that delays audit events for as long as a test says, as with a locked table. */
let opened: OpenedStore;
let portal: RunningPortal;
let client: TestClient;
/**
 * Inserts of events wait until this promise is resolved. Each insert is counted when it arrives.
 */
let locked: PromiseWithResolvers<void> | null = null;
let arrived = Promise.withResolvers<void>();
let inserts = 0;

const locking = (database: OpenedDatabase): BorrowedDatabase =>
  withExecute(database, async (sql, parameters = [], committed) => {
    if (sql.startsWith('INSERT INTO oauth_audit')) {
      inserts += 1;
      arrived.resolve();
      await locked?.promise;
      if (parameters.includes('a poisoned client')) throw new Error('This row is refused');
    }
    return database.execute(sql, parameters, committed);
  });

beforeAll(async () => {
  opened = await openStore();
  portal = await startPortal({
    database: locking(opened.inner),
    config: { oauth_server: { audit: { keep: true } } },
  });
  client = await registerClient(portal, {
    redirectUris: [],
    grants: ['client_credentials'],
    scopes: ['notes:read'],
  });
});
afterEach(() => locked?.resolve());
afterAll(async () => {
  await portal.close();
  await opened.close();
});

function lock(): void {
  locked = Promise.withResolvers();
  arrived = Promise.withResolvers();
  inserts = 0;
}

function unlock(): void {
  locked?.resolve();
  locked = null;
}

const ask = () => requestToken(portal, client, { grant_type: 'client_credentials' });
const event = (clientId: string): AuditEvent => ({
  type: 'secret_rotated',
  clientId,
  previousExpiresAt: null,
});
const keptOf = async (clientId: string) =>
  (await portal.server.audit.list({ clientId, type: 'secret_rotated' }, { limit: 1000 })).items
    .length;

/** The events that were written to the log instead of the table. */
async function saidInstead(): Promise<
  readonly { readonly id: string; readonly client_id: string }[]
> {
  const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
  return log
    .split('\n')
    .filter((line) => line.includes('was not stored'))
    .map((line) => (JSON.parse(line) as { record: { id: string; client_id: string } }).record);
}

// @shows AS-19.6
test('a response is sent only after its audit event is in the table', async () => {
  lock();
  let isAnswered = false;
  const asked = ask().finally(() => (isAnswered = true));
  await arrived.promise;
  expect((await fetch(`${portal.url}/.well-known/openid-configuration`)).status).toBe(200);
  // On a very slow machine, the second may already be over, and the log contains the event.
  expect(isAnswered && (await saidInstead()).length === 0).toBe(false);
  unlock();
  expect((await asked).status).toBe(200);
});

// @shows AS-19.6
test('audit events that arrive during a write share the next statement', async () => {
  lock();
  const first = portal.server.audit(event('sharing'));
  await arrived.promise;
  const others = Array.from({ length: 100 }, () => portal.server.audit(event('sharing')));
  unlock();
  await Promise.all([first, ...others]);
  expect(inserts).toBeLessThan(10);
  await expect.poll(() => keptOf('sharing')).toBe(101);
});

// @shows AS-19.6
test('an audit event that the store refuses is written to the log, and the others to the table', async () => {
  lock();
  const first = portal.server.audit(event('healthy'));
  await arrived.promise;
  const clients = ['healthy', 'a poisoned client', 'healthy', 'healthy'];
  const others = clients.map((clientId) => portal.server.audit(event(clientId)));
  unlock();
  await Promise.all([first, ...others]);
  await expect.poll(() => keptOf('healthy')).toBe(4);
  expect(await keptOf('a poisoned client')).toBe(0);
  expect(
    (await saidInstead()).filter((each) => each.client_id === 'a poisoned client'),
  ).toHaveLength(1);
});

// @shows AS-19.6
test('a hanging store delays no response: audit events go to the log, and later to the table', async () => {
  const before = (await saidInstead()).length;
  lock();
  expect((await ask()).status).toBe(200);
  const answers = await Promise.all(Array.from({ length: 5 }, ask));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 200));
  const said = (await saidInstead()).slice(before).map(({ id }) => id);
  expect(said).toHaveLength(6);
  unlock();
  const { audit } = portal.server;
  const kept = async () => {
    const { items } = await audit.list(
      { clientId: client.id, type: 'tokens_issued' },
      { limit: 1000 },
    );
    return said.filter((id) => items.every((item) => item.id !== id));
  };
  await expect.poll(kept).toEqual([]);
  // From now on, events are awaited again.
  const later = (await saidInstead()).length;
  expect((await ask()).status).toBe(200);
  expect(await saidInstead()).toHaveLength(later);
});

// @engines servers: SQLite has only one writer at a time, so no process can lock a single row
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from './support/database.ts';
import {
  KIND,
  openSending,
  startReceiver,
  type Receiver,
  type SendingServer,
} from './support/outbox.ts';

let folder: string;
let created: TestDatabase;
let receiver: Receiver;
let delivering: SendingServer;
let other: SendingServer;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-outbox-'));
  created = await createDatabase(folder);
  receiver = await startReceiver();
  delivering = await openSending(created.url, folder, receiver.url);
  other = await openSending(created.url, folder, receiver.url);
});
afterEach(async () => {
  await delivering.close();
  await other.close();
  await receiver.close();
  await created.drop();
  rmSync(folder, { recursive: true });
});

/** More receivers than a process delivers to at the same time. */
const LOCKED = Array.from({ length: 9 }, (_, index) => `locked ${index}`);

// @shows AS-50.3
test('an open transaction delays only the receivers for which it has messages', async () => {
  for (const to of LOCKED) await other.send(to, '1');
  await other.database.transaction(async (connection) => {
    const expiresAt = Date.now() + 60_000;
    const messages = LOCKED.map((to) => ({ kind: KIND, receiver: to, payload: '2', expiresAt }));
    await other.server.outbox.add(connection, messages);
    delivering.server.outbox.start();
    await delivering.send('free', '1', '2');
    const delivered = async () => {
      // A transaction without statements would be rolled back.
      await connection.execute('SELECT 1');
      return receiver.received.map((got) => got.receiver);
    };
    await expect.poll(delivered, { timeout: 10_000 }).toEqual(['free', 'free']);
  });
  await receiver.has(2 + LOCKED.length * 2);
  for (const to of LOCKED)
    expect(
      receiver.received.filter((got) => got.receiver === to).map(({ payload }) => payload),
    ).toEqual(['1', '2']);
});

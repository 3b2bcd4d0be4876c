// @engines all, long: it kills processes that deliver messages
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { openSending, startReceiver, type Receiver, type SendingServer } from './support/outbox.ts';
import { SCALE } from './support/scale.ts';

let folder: string;
let created: TestDatabase;
let receiver: Receiver;
let here: SendingServer;
/** Added to the time of this process, so that the leases of killed processes end immediately. */
let later = 0;

beforeEach(async () => {
  later = 0;
  folder = mkdtempSync(path.join(tmpdir(), 'portico-outbox-'));
  created = await createDatabase(folder);
  receiver = await startReceiver();
  here = await openSending(created.url, folder, receiver.url, () => Date.now() + later);
});
afterEach(async () => {
  await here.close();
  await receiver.close();
  await created.drop();
  rmSync(folder, { recursive: true });
});

async function deliverBeside(): Promise<RunningProcess> {
  const script = path.join(ROOT, 'test', 'support', 'outbox.ts');
  const started = start([script, created.url, folder, receiver.url], { cwd: ROOT });
  await started.says('Delivering');
  return started;
}

/** The messages that each receiver got for the first time, in this order. */
function firstOf(to: string): readonly string[] {
  return [
    ...new Set(
      receiver.received.filter((each) => each.receiver === to).map(({ payload }) => payload),
    ),
  ];
}

// @shows AS-50.1, AS-50.2
test('messages are neither lost nor reordered while processes are killed and a receiver is down', async () => {
  const receivers = ['a', 'b', 'c', 'd'];
  const sent = Array.from({ length: SCALE.outboxMessages / 4 }, (_, index) => String(index));
  receiver.answers = () => (receiver.received.length % 200 === 100 ? 503 : 200);
  const adding = Promise.all(
    receivers.map(async (to) => {
      for (let at = 0; at < sent.length; at += 5) await here.send(to, ...sent.slice(at, at + 5));
    }),
  );
  for (let kill = 0; kill < 4; kill += 1) {
    const before = receiver.received.length;
    const beside = await deliverBeside();
    await expect
      .poll(() => receiver.received.length, { timeout: 60_000 })
      .toBeGreaterThan(before + 50);
    await beside.stop('SIGKILL');
    // The leases of the killed process end.
    await here.database.execute(
      'UPDATE oauth_outbox_receivers SET due_at = 0 WHERE holder IS NOT NULL',
    );
  }
  await adding;
  here.server.outbox.start();
  await expect
    .poll(() => here.server.outbox.counts(), { timeout: 300_000, interval: 250 })
    .toEqual({ waiting: 0, undelivered: 0, dropped: 0 });
  for (const to of receivers) expect(firstOf(to)).toEqual(sent);
  expect(receiver.atOnce).toBe(1);
  const duplicates = receiver.received.length - sent.length * receivers.length;
  expect(duplicates).toBeLessThan(sent.length);
}, 600_000);

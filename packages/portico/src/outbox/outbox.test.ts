// @engines sqlite: test/outbox.test.ts runs on every engine
import { migrate } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { QUIET_LOG } from '../../../../test/support/quiet-log.ts';
import { openWatchedStore, type WatchedStore } from '../../../../test/support/watched-store.ts';
import { outboxMigrations } from '../store/migrations/outbox.ts';
import { backoff } from './backoff.ts';
import { examineOutbox } from './examination.ts';
import type { NewMessage, OutboxCounts } from './message.ts';
import { oldMessages } from './old-messages.ts';
import { Outbox } from './outbox.ts';

const START = 1_795_240_016_123;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let watched: WatchedStore;
let now = START;
let said: unknown[][] = [];
let outbox: Outbox;

beforeAll(async () => {
  watched = await openWatchedStore();
  await migrate(watched.database, outboxMigrations);
});
beforeEach(() => {
  [now, said, watched.meanwhile] = [START, [], null];
  outbox = outboxThat(true);
  return watched.emptied('oauth_outbox_messages', 'oauth_outbox_receivers');
});
afterAll(() => watched.close());

function outboxThat(isOn: boolean): Outbox {
  return new Outbox({
    database: watched.database,
    isOn,
    deliveries: () => ({ note: async () => ({ outcome: 'delivered' }) }),
    clock: () => now,
    random: () => 0,
    log: { ...QUIET_LOG, warning: (...line) => void said.push(line) },
  });
}

const message = (receiver: string, changes: Partial<NewMessage> = {}): NewMessage => ({
  kind: 'note',
  receiver,
  payload: 'hello',
  expiresAt: now + DAY,
  ...changes,
});
const add = (...messages: readonly NewMessage[]) =>
  watched.database.transaction((connection) => outbox.add(connection, messages));
/** Adds messages for one receiver in a single statement. */
const addMany = async (receiver: string, count: number) => {
  await add(message(receiver));
  await watched.database.execute(
    `INSERT INTO oauth_outbox_messages
    SELECT m.id || printf('%05d', n.value), receiver_id, kind, receiver, number + 1 + n.value,
      payload, attempts, created_at, expires_at, undelivered_at, reason, prune_after
    FROM oauth_outbox_messages m, json_each(?) n WHERE receiver = ?`,
    [JSON.stringify(Array.from({ length: count - 1 }, (_, index) => index)), receiver],
  );
  const waiting = 'UPDATE oauth_outbox_receivers SET waiting = ? WHERE receiver = ?';
  await watched.database.execute(waiting, [count, receiver]);
};
const giveUpAll = () =>
  watched.database.transaction(async (connection) => {
    await connection.execute(
      "UPDATE oauth_outbox_messages SET undelivered_at = ?, reason = 'refused'",
      [now],
    );
    await connection.execute(
      'UPDATE oauth_outbox_receivers SET undelivered = waiting, waiting = 0, due_at = 9e15',
    );
  });
const full = () => watched.database.execute('UPDATE oauth_outbox_receivers SET waiting = 20000');
const due = async () =>
  Object.fromEntries(
    (
      await watched.rowsOf<{ readonly receiver: string; readonly due_at: number }>(
        'SELECT receiver, due_at FROM oauth_outbox_receivers',
      )
    ).map(({ receiver, due_at: dueAt }) => [receiver, dueAt]),
  );
const NONE = { waiting: 0, undelivered: 0, dropped: 0 };

describe('a message', () => {
  test('is stored until a week after it has expired', async () => {
    expect(await add(message('a'))).toBe(0);
    const listed = {
      id: expect.any(String) as string,
      kind: 'note',
      receiver: 'a',
      state: 'waiting',
      attempts: 0,
      reason: null,
      createdAt: START,
      expiresAt: START + DAY,
    };
    expect(await outbox.list()).toEqual([listed]);
    const rows = await watched.rowsOf('SELECT payload, prune_after FROM oauth_outbox_messages');
    expect(rows).toEqual([{ payload: 'hello', prune_after: START + 8 * DAY }]);
  });

  test('can have the longest receiver and payload', async () => {
    await add(message('r'.repeat(255), { payload: 'p'.repeat(65_536) }));
    expect(await outbox.counts()).toEqual({ ...NONE, waiting: 1 });
  });

  test.each<[string, Partial<NewMessage>]>([
    ['No feature delivers messages of the kind "unknown"', { kind: 'unknown' }],
    ['No feature delivers messages of the kind "toString"', { kind: 'toString' }],
    ['The receiver of a message must not be empty', { receiver: '' }],
    ['The receiver of a message must be a string of at most 255', { receiver: 'r'.repeat(256) }],
    ['The receiver of a message must be a string', { receiver: 7 as unknown as string }],
    ['The payload of a message must be a string of at most 65536', { payload: 'p'.repeat(65_537) }],
    ['The payload of a message must be a string', { payload: undefined as unknown as string }],
    ['The payload of a message must be well-formed Unicode', { payload: '\uD800' }],
    ['The payload of a message must be well-formed Unicode without NUL', { payload: 'a\0' }],
    ['The expiresAt of a message must be a whole number', { expiresAt: 1.5 }],
    ['The expiresAt of a message must be a whole number', { expiresAt: '1' as unknown as number }],
  ])('is refused before anything is written: %s', async (problem, wrong) => {
    const before = watched.writes.length;
    const adding = outbox.add(watched.database, [message('good'), message('bad', wrong)]);
    await expect(adding).rejects.toThrow(RangeError);
    await expect(adding).rejects.toThrow(problem);
    expect(watched.writes.length).toBe(before);
  });

  test('is added in the order of the receivers, and the order of one receiver stays', async () => {
    const written: unknown[] = [];
    await watched.database.transaction((connection) =>
      outbox.add(
        {
          execute(sql, parameters = []) {
            if (sql.includes('INSERT INTO oauth_outbox_messages'))
              written.push([parameters[3], parameters[5]]);
            return connection.execute(sql, parameters);
          },
        },
        ['b1', 'c1', 'a1', 'b2', 'a2', 'b3', 'a3'].map((payload) =>
          message(payload.slice(0, 1), { payload }),
        ),
      ),
    );
    const ordered = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1'];
    expect(written).toEqual(ordered.map((payload) => [payload.slice(0, 1), payload]));
  });

  test('is dropped if 20,000 are waiting, with a log line each hour for each receiver', async () => {
    await add(message('a'), message('b'));
    await full();
    expect(await add(message('a'), message('c'), message('b'), message('a'))).toBe(3);
    const warning =
      'Messages of the kind {kind} for {receiver} are dropped, because 20,000 messages are ' +
      'already waiting';
    const line = (receiver: string) => [warning, { kind: 'note', receiver }];
    expect(said).toEqual([line('a'), line('b')]);
    expect(await outbox.dropped()).toEqual([
      { kind: 'note', receiver: 'a', dropped: 2 },
      { kind: 'note', receiver: 'b', dropped: 1 },
    ]);
    now += HOUR - 1;
    await add(message('a'));
    expect(said).toHaveLength(2);
    now += 1;
    expect(await add(message('a'))).toBe(1);
    expect(said).toEqual([line('a'), line('b'), line('a')]);
    expect(await outbox.counts()).toMatchObject({ dropped: 5 });
  });
});

describe('the list of messages', () => {
  test('has 50 messages on a page, or as many as the limit', async () => {
    await addMany('a', 51);
    expect(await outbox.list()).toHaveLength(50);
    const all = await outbox.list({}, { limit: 51 });
    expect(all).toHaveLength(51);
    expect(await outbox.list({}, { limit: 2, after: all[48]?.id ?? '' })).toEqual(all.slice(49));
    expect(await outbox.list({}, { limit: 1, after: all[0]?.id ?? '' })).toEqual([all[1]]);
  });

  test('accepts limits from 1 to 1000', async () => {
    for (const limit of [1, 1000]) expect(await outbox.list({}, { limit })).toEqual([]);
    for (const limit of [0, 1001, 1.5, Number.NaN])
      await expect(outbox.list({}, { limit })).rejects.toThrow(
        'limit must be a whole number from 1 to 1000',
      );
  });

  test('can select a receiver and a state', async () => {
    await add(message('a'), message('b'));
    expect(await outbox.list({ receiver: 'b' })).toMatchObject([{ receiver: 'b' }]);
    expect(await outbox.list({ state: 'undelivered' })).toEqual([]);
    await giveUpAll();
    expect(await outbox.list({ state: 'waiting' })).toEqual([]);
    expect(await outbox.list({ receiver: 'b' })).toMatchObject([
      { state: 'undelivered', reason: 'refused' },
    ]);
  });
});

describe('an operator', () => {
  test.each([0, 1, 100, 101])('discards all %i messages of a receiver', async (count) => {
    if (count > 0) await addMany('a', count);
    await add(message('b'));
    await full();
    await add(message('b'));
    expect(await outbox.discard({ receiver: 'a' })).toBe(count);
    expect(await outbox.list()).toMatchObject([{ receiver: 'b' }]);
    expect(await outbox.dropped()).toMatchObject([{ receiver: 'b', dropped: 1 }]);
    expect(await outbox.discard({})).toBe(1);
    expect(await outbox.dropped()).toEqual([]);
  });

  test('discards one message, which keeps the count of dropped messages', async () => {
    await add(message('a'), message('a'));
    await full();
    await add(message('a'));
    const [one, other] = await outbox.list();
    const id = one?.id ?? '';
    expect(await outbox.discard({ id })).toBe(1);
    expect(await outbox.list()).toEqual([other]);
    expect(await outbox.counts()).toMatchObject({ dropped: 1 });
    const before = watched.transactions;
    expect(await outbox.discard({ id })).toBe(0);
    expect(watched.transactions).toBe(before);
  });

  test('retries undelivered messages for a day, and makes waiting ones due', async () => {
    await add(message('a'), message('b'));
    await giveUpAll();
    await add(message('c'), message('d'));
    const later = 'UPDATE oauth_outbox_receivers SET due_at = ? WHERE waiting > 0';
    await watched.database.execute(later, [START + HOUR]);
    now += 1000;
    expect(await outbox.retry({ receiver: 'a' })).toBe(1);
    expect(await outbox.list({ receiver: 'a' })).toMatchObject([
      { state: 'waiting', expiresAt: START + 1000 + DAY },
    ]);
    expect(await outbox.counts()).toEqual({ waiting: 3, undelivered: 1, dropped: 0 });
    const never = 9e15;
    const [at, before] = [START + 1000, START + HOUR];
    expect(await due()).toEqual({ a: at, b: never, c: before, d: before });
    expect(await outbox.retry({ receiver: 'c' })).toBe(0);
    expect(await due()).toEqual({ a: at, b: never, c: at, d: before });
    expect(await outbox.retry({})).toBe(1);
    expect(await due()).toEqual({ a: at, b: at, c: at, d: at });
  });

  test('retries each message once, even if it is refused again meanwhile', async () => {
    await addMany('a', 101);
    await giveUpAll();
    const list = /ORDER BY id DESC/;
    const further = async () => void (watched.meanwhile = { before: list, act: giveUpAll });
    watched.meanwhile = { before: list, act: further };
    expect(await outbox.retry({})).toBe(101);
  });

  test('retries one undelivered message, and changes no message that is waiting', async () => {
    await add(message('a'));
    await giveUpAll();
    await add(message('b'));
    await watched.database.execute(
      "UPDATE oauth_outbox_receivers SET due_at = ? WHERE receiver = 'b'",
      [START + HOUR],
    );
    for (const [receiver, restored] of [
      ['b', 0],
      ['a', 1],
    ] as const) {
      const [found] = await outbox.list({ receiver });
      expect(await outbox.retry({ id: found?.id ?? '' })).toBe(restored);
    }
    expect(await due()).toEqual({ a: START, b: START + HOUR });
  });
});

test('old messages and receivers are removed', async () => {
  const removing = oldMessages(outbox);
  expect(removing).toEqual({
    kind: 'outboxMessages',
    called: 'outbox messages',
    which: 'could not be delivered',
    batch: 100,
    remove: expect.any(Function) as unknown,
  });
  await add(message('a'), message('b'), message('c'));
  now = START + 8 * DAY;
  expect(await removing.remove(2, '')).toBe(0);
  now += 1;
  expect(await removing.remove(2, '')).toBe(2);
  expect(await removing.remove(2, '')).toBe(1);
  now = START + 30 * DAY;
  await removing.remove(2, '');
  expect(await due()).not.toEqual({});
  now += 1;
  await removing.remove(2, '');
  await removing.remove(2, '');
  expect(await due()).toEqual({});
});

test('an outbox that is off does nothing', async () => {
  await add(message('a'));
  const before = [watched.reads.length, watched.writes.length];
  const off = outboxThat(false);
  off.start();
  off.wake();
  expect(await off.list()).toEqual([]);
  expect(await off.list({}, { limit: 0 })).toEqual([]);
  expect(await off.retry({})).toBe(0);
  expect(await off.discard({})).toBe(0);
  expect([await off.counts(), await off.dropped()]).toEqual([null, []]);
  await off.stop();
  expect([watched.reads.length, watched.writes.length]).toEqual(before);
});

describe('the examination', () => {
  const examined = (counts: OutboxCounts | null) => {
    const examination = examineOutbox({ counts: async () => counts } as Outbox);
    expect(examination).toMatchObject({ part: 'outbox', of: 'clients' });
    return examination.findings?.({} as never);
  };

  test('warns only if messages could not be delivered or were dropped', async () => {
    expect(await examined(null)).toEqual([]);
    expect(await examined({ ...NONE, waiting: 3 })).toMatchObject([
      { outcome: 'ok', detail: '3 messages are waiting for delivery' },
    ]);
    for (const counts of [{ undelivered: 1 }, { dropped: 1 }])
      expect(await examined({ ...NONE, ...counts })).toMatchObject([
        {
          outcome: 'warning',
          detail: expect.stringContaining('messages could not be delivered, and') as unknown,
          remedy: expect.stringContaining('oauth:outbox:discard') as unknown,
        },
      ]);
  });
});

test('the wait doubles after each failure, up to five minutes, and differs by a quarter', () => {
  const plain = [1, 2, 3, 9, 10, 21, 22, 2000].map((failures) => backoff(failures, 0.5));
  const longest = 300_000;
  expect(plain).toEqual([1000, 2000, 4000, 256_000, longest, longest, longest, longest]);
  expect([backoff(1, 0), backoff(1, 1)]).toEqual([750, 1250]);
  expect(backoff(1, 0.000_001)).toBe(750);
});

// @engines all: the store contains the outbox
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  defineFeature,
  configurationWith,
  createAuthorizationServer,
  migrationsWith,
  type NewMessage,
} from 'portico';
import { runInContext } from 'portico/extension';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT, porticoHere, start, type RunningProcess } from './support/console.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { openSending, startReceiver, type Receiver, type SendingServer } from './support/outbox.ts';
import { RUNS_ALL, waysOf } from './support/scale.ts';

const WEEK = 7 * 86_400_000;

/**
 * What one run of a test has for itself. Each test reads it before it waits for the first time, so
 * that a run that was given up never uses the server, the receiver or the clock of a later run.
 */
interface Run {
  readonly folder: string;
  readonly created: TestDatabase;
  readonly receiver: Receiver;
  readonly one: SendingServer;
  /** `later` is added to the time. */
  readonly time: { later: number };
  readonly clock: () => number;
  /** All servers that are open. */
  readonly servers: Set<SendingServer>;
  /** Processes that the test started. */
  readonly processes: RunningProcess[];
  readonly openServer: () => Promise<SendingServer>;
  readonly oauth: (...args: readonly string[]) => ReturnType<typeof porticoHere>;
}

let run: Run;

beforeEach(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-outbox-'));
  const created = await createDatabase(folder);
  const receiver = await startReceiver();
  const time = { later: 0 };
  const clock = () => Date.now() + time.later;
  const servers = new Set<SendingServer>();
  const openServer = async () => {
    const server = await openSending(created.url, folder, receiver.url, clock);
    servers.add(server);
    return server;
  };
  const oauth = (...args: readonly string[]) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'sending'),
      env: { DATABASE_URL: created.url, STORAGE_DIR: folder },
    });
  const one = await openServer();
  const processes: RunningProcess[] = [];
  run = { folder, created, receiver, one, time, clock, servers, processes, openServer, oauth };
});
afterEach(async () => {
  const { receiver, servers, processes, created, folder } = run;
  for (const each of processes) await each.stop('SIGKILL');
  await receiver.close();
  for (const server of servers) await closed(servers, server);
  await created.drop();
  rmSync(folder, { recursive: true });
});

async function closed(servers: Set<SendingServer>, server: SendingServer): Promise<void> {
  servers.delete(server);
  await server.close();
}

const payloadsOf = ({ received }: Receiver, to: string | null = null) =>
  received.filter((each) => to === null || each.receiver === to).map(({ payload }) => payload);
/** Polls the counts of this server. */
const untilCountsOf = async ({ server: { outbox } }: SendingServer, expected: object) =>
  await expect
    .poll(() => outbox.counts(), { timeout: 20_000 })
    .toEqual({ waiting: 0, undelivered: 0, dropped: 0, ...expected });
const untilPayloadsOf = async (receiver: Receiver, to: string, expected: readonly string[]) =>
  await expect.poll(() => payloadsOf(receiver, to), { timeout: 20_000 }).toEqual(expected);
const untilReasonsOf = async (
  { server: { outbox } }: SendingServer,
  to: string,
  expected: unknown,
) =>
  await expect
    .poll(async () => (await outbox.list({ receiver: to })).map(({ reason }) => reason))
    .toEqual(expected);

// @shows AS-50.1
test('a message is delivered if its transaction commits, and never if it rolls back', async () => {
  const { receiver, one, clock } = run;
  const { outbox } = one.server;
  outbox.start();
  const expiresAt = clock() + WEEK;
  const message = { kind: 'note', receiver: 'a', payload: 'lost', expiresAt };
  await expect(
    one.database.transaction(async (connection) => {
      await outbox.add(connection, [message]);
      throw new Error('Changed my mind');
    }),
  ).rejects.toThrow('Changed my mind');
  await one.send('a', 'kept');
  await receiver.has(1);
  await untilCountsOf(one, { waiting: 0 });
  expect(payloadsOf(receiver)).toEqual(['kept']);
});

// @shows AS-50.1
test('a process delivers messages that other processes added before it started', async () => {
  const { receiver, one, openServer } = run;
  await one.send('a', '1', '2', '3');
  expect(await one.server.outbox.counts()).toEqual({ waiting: 3, undelivered: 0, dropped: 0 });
  const other = await openServer();
  other.server.outbox.start();
  await receiver.has(3);
  await untilCountsOf(one, { waiting: 0 });
  expect(payloadsOf(receiver)).toEqual(['1', '2', '3']);
});

// @shows AS-50.2
test('each receiver gets its messages in order and one at a time, also from two processes', async () => {
  const { receiver, one, openServer } = run;
  const other = await openServer();
  for (const { server } of [one, other]) server.outbox.start();
  const receivers = ['a', 'b', 'c'];
  const sent = Array.from({ length: 20 }, (_, index) => String(index));
  await Promise.all(
    receivers.map(async (to, index) => {
      for (const payload of sent) await (index % 2 === 0 ? one : other).send(to, payload);
    }),
  );
  await receiver.has(60);
  await untilCountsOf(one, { waiting: 0 });
  for (const to of receivers) expect(payloadsOf(receiver, to)).toEqual(sent);
  expect(receiver.atOnce).toBe(1);
});

// @shows AS-50.3
test.runIf(RUNS_ALL)(
  'a postponed message delays the other messages of its receiver by at most a second',
  async () => {
    const { receiver, one, time } = run;
    receiver.answers = ({ payload }) => (payload === 'good' ? 200 : 425);
    const postponed = Array.from({ length: 9 }, (_, index) => `postponed ${index}`);
    await one.send('a', ...postponed, 'good');
    one.server.outbox.start();
    for (let attempts = 1; attempts <= 9; attempts += 1) {
      await receiver.has(attempts);
      // The next attempt is due at most a second after the one before ends.
      time.later += 1500;
    }
    await receiver.has(10);
    expect(payloadsOf(receiver)).toEqual([...postponed, 'good']);
    await untilCountsOf(one, { waiting: 9 });
  },
);

// @shows AS-50.2, AS-50.3
test('a receiver that fails gets the same message again, later and in order, and stops no other', async () => {
  const { receiver, one } = run;
  let fails = true;
  receiver.answers = (got) => (got.receiver === 'down' && fails ? 503 : 200);
  one.server.outbox.start();
  await one.send('down', '1', '2');
  await receiver.has(1);
  await one.send('up', 'x');
  await receiver.has(2);
  await untilReasonsOf(one, 'down', expect.arrayContaining(['the answer is 503', null]));
  fails = false;
  await receiver.has(4);
  await untilCountsOf(one, { waiting: 0 });
  expect(payloadsOf(receiver, 'down')).toEqual(['1', '1', '2']);
  const [first, again] = receiver.received.filter(({ payload }) => payload === '1');
  expect(again?.id).toBe(first?.id);
  expect((again?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(700);
});

// @shows AS-50.4
test('a message that its receiver refuses waits for an operator, and the next one is delivered', async () => {
  const { receiver, one, oauth } = run;
  receiver.answers = ({ payload }) => (payload === 'bad' ? 400 : payload === 'old' ? 410 : 200);
  one.server.outbox.start();
  await one.send('a', 'bad', 'old', 'good');
  await receiver.has(3);
  await untilCountsOf(one, { undelivered: 1 });
  const [message] = await one.server.outbox.list();
  expect(message).toMatchObject({ state: 'undelivered', reason: 'the answer is 400' });
  await one.server.outbox.stop();

  const shown = await oauth('oauth:outbox', '--undelivered');
  expect(shown.stdout).toContain(`${message?.id}  note for "a"  undelivered since`);
  expect(shown.stdout).toContain('the answer is 400');
  expect(shown.stderr).toContain('Messages waiting: 0, not delivered: 1, dropped: 0.');
  expect((await oauth('oauth:outbox:retry')).stderr).toContain('Pass the id of a message');
  expect((await oauth('oauth:outbox:retry', 'nothing')).code).toBe(1);
  expect((await oauth('oauth:outbox:retry', message?.id ?? '')).stdout).toContain('1 messages');
  expect(await one.server.outbox.counts()).toEqual({ waiting: 1, undelivered: 0, dropped: 0 });
  expect((await oauth('oauth:outbox:discard', message?.id ?? '')).stdout).toContain('1 messages');
  await untilCountsOf(one, { waiting: 0 });
  expect(await one.server.outbox.list()).toEqual([]);
});

// @shows AS-50.4
test('a message that an operator retries is delivered', async () => {
  const { receiver, one } = run;
  receiver.answers = () => 400;
  one.server.outbox.start();
  await one.send('a', '1');
  await untilCountsOf(one, { undelivered: 1 });
  receiver.answers = () => 200;
  expect(await one.server.outbox.retry({ receiver: 'a' })).toBe(1);
  await untilCountsOf(one, { waiting: 0 });
  expect(payloadsOf(receiver)).toEqual(['1', '1']);
});

// @shows AS-50.3
test('a message that has expired is not sent, and is removed after a week', async () => {
  const { receiver, one, time, servers, openServer } = run;
  receiver.answers = () => 503;
  const other = await openServer();
  other.server.outbox.start();
  await one.send('a', '1');
  other.server.outbox.wake();
  await receiver.has(1);
  // Stores the first failure.
  await closed(servers, other);
  time.later += 2 * 86_400_000;
  one.server.outbox.start();
  await untilCountsOf(one, { undelivered: 1 });
  const [message] = await one.server.outbox.list();
  expect(message?.reason).toBe('expired: the answer is 503');
  const sent = receiver.received.length;
  await one.server.outbox.retry({ receiver: 'unknown' });
  expect(await one.server.prune()).toMatchObject({ outboxMessages: 0 });
  time.later += WEEK + 1000;
  expect(await one.server.prune()).toMatchObject({ outboxMessages: 1 });
  await untilCountsOf(one, { undelivered: 0 });
  expect(receiver.received.length).toBe(sent);
  time.later += 31 * 86_400_000;
  await one.server.prune();
  const { rows } = await one.database.execute('SELECT id FROM oauth_outbox_receivers');
  expect(rows).toEqual([]);
});

// @shows AS-50.5
test('messages above the limit of one receiver are dropped and counted, without effect on others', async () => {
  const { one, oauth } = run;
  await one.send('full', '1');
  await one.database.execute('UPDATE oauth_outbox_receivers SET waiting = 20000');
  expect(await one.send('full', '2', '3')).toBe(2);
  expect(await one.send('other', '1')).toBe(0);
  expect(await one.server.outbox.counts()).toEqual({ waiting: 20_001, undelivered: 0, dropped: 2 });
  const shown = await oauth('oauth:outbox', '--limit=1');
  expect(shown.stderr).toContain('2 messages of the kind note for "full" were dropped');
  const { stdout } = await oauth('oauth:outbox', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    dropped: [{ kind: 'note', receiver: 'full', dropped: 2 }],
  });
  const doctor = await oauth('oauth:server:doctor');
  expect(doctor.stdout).toContain(
    "0 messages could not be delivered, and 2 were dropped because their receiver's queue was full; ",
  );
  await oauth('oauth:outbox:discard', '--receiver', 'full');
  expect((await one.server.outbox.counts())?.dropped).toBe(0);
});

// @shows AS-50.5
test.runIf(RUNS_ALL)('dropped messages are logged once an hour for each receiver', async () => {
  const { one, time } = run;
  const full = async (...receivers: readonly string[]) => {
    for (const to of receivers) await one.send(to, '1');
    await one.database.execute('UPDATE oauth_outbox_receivers SET waiting = 20000');
    for (const to of receivers) expect(await one.send(to, '2', '3')).toBe(2);
    return one.warnings.filter((line) => line.includes('20,000 messages'));
  };
  expect(await full('a', 'b')).toEqual([
    expect.stringContaining('{"kind":"note","receiver":"a"}'),
    expect.stringContaining('{"kind":"note","receiver":"b"}'),
  ]);
  time.later += 3_599_000;
  expect(await one.send('a', '4')).toBe(1);
  expect(one.warnings).toHaveLength(2);
  time.later += 2000;
  expect(await one.send('a', '5')).toBe(1);
  expect(one.warnings).toHaveLength(3);
});

// @shows AS-50.1
test('the doctor command delivers no messages, although it sends requests to the application', async () => {
  const { one, oauth } = run;
  await one.send('a', '1');
  const doctor = await oauth('oauth:server:doctor');
  expect(doctor.stdout).toContain('this process serves');
  const [message] = await one.server.outbox.list();
  expect(message).toMatchObject({ state: 'waiting', attempts: 0, reason: null });
});

test('a receiver without messages is removed after a month, also behind 100 that have some', async () => {
  const { one, time, clock } = run;
  const { outbox } = one.server;
  const expiresAt = clock() + 10 * WEEK;
  const waiting = Array.from({ length: 100 }, (_, index) => `waiting ${index}`);
  await one.database.transaction((connection) =>
    outbox.add(
      connection,
      waiting.map((to) => ({ kind: 'note', receiver: to, payload: '', expiresAt })),
    ),
  );
  time.later += 1000;
  await one.send('idle', '1');
  await outbox.discard({ receiver: 'idle' });
  time.later += 31 * 86_400_000;
  await one.server.prune();
  const { rows } = await one.database.execute<{ receiver: string }>(
    'SELECT receiver FROM oauth_outbox_receivers',
  );
  expect(rows.map((row) => row.receiver).toSorted()).toEqual(waiting.toSorted());
});

// @shows AS-50.5
test('a wrong count of waiting messages is corrected automatically', async () => {
  const { receiver, one } = run;
  await one.send('a', '1');
  await one.database.execute('UPDATE oauth_outbox_receivers SET waiting = 4');
  one.server.outbox.start();
  await receiver.has(1);
  await untilCountsOf(one, { waiting: 0 });
  await one.send('a', '2');
  await receiver.has(2);
  await untilCountsOf(one, { waiting: 0 });
  expect(payloadsOf(receiver)).toEqual(['1', '2']);
});

const WRONG: readonly (readonly [string, Partial<NewMessage>])[] = [
  ['a kind that no feature delivers', { kind: 'unknown' }],
  ['a receiver of more than 255 characters', { receiver: 'a'.repeat(256) }],
  ['an empty receiver', { receiver: '' }],
  ['a receiver that a database cannot store', { receiver: 'a\0' }],
  ['a payload of more than 65,536 characters', { payload: 'a'.repeat(65_537) }],
  ['a payload that a database cannot store', { payload: '\uD800' }],
  ['no time', { expiresAt: Number.NaN }],
];

// @shows AS-50.7
test.each(waysOf(WRONG))(
  'a message with %s is refused before anything is written',
  async (_, wrong) => {
    const { one, clock } = run;
    const good = { kind: 'note', receiver: 'a', payload: '', expiresAt: clock() + WEEK };
    await one.database.transaction(async (connection) => {
      const adding = one.server.outbox.add(connection, [good, { ...good, ...wrong }]);
      await expect(adding).rejects.toThrow(
        /^(?:No feature delivers messages of the kind|The (?:receiver|payload|expiresAt) of a message) /,
      );
    });
    expect(await one.server.outbox.counts()).toEqual({ waiting: 0, undelivered: 0, dropped: 0 });
  },
);

// @shows AS-50.7
test.runIf(RUNS_ALL)('a delivery with an unknown outcome counts as failed', async () => {
  const { receiver, one } = run;
  receiver.answers = () => (receiver.received.length === 1 ? 299 : 200);
  one.server.outbox.start();
  await one.send('a', '1');
  await receiver.has(1);
  await untilReasonsOf(one, 'a', ['the delivery returned an unknown outcome']);
  await receiver.has(2);
  await untilCountsOf(one, { waiting: 0 });
  expect(payloadsOf(receiver)).toEqual(['1', '1']);
});

// @shows AS-50.2
test('a process that stops during a delivery is replaced when its lease expires', async () => {
  const { folder, created, receiver, one, time, processes } = run;
  const ended = Promise.withResolvers<number>();
  receiver.answers = () => (receiver.received.length === 1 ? ended.promise : 200);
  const script = path.join(ROOT, 'test', 'support', 'outbox.ts');
  const beside = start([script, created.url, folder, receiver.url], { cwd: ROOT });
  processes.push(beside);
  await one.send('a', '1', '2');
  await untilPayloadsOf(receiver, 'a', ['1']);
  await beside.stop('SIGKILL');
  one.server.outbox.start();
  await one.send('b', 'x');
  await untilPayloadsOf(receiver, 'b', ['x']);
  expect(payloadsOf(receiver, 'a')).toEqual(['1']);
  time.later += 61_000;
  await untilPayloadsOf(receiver, 'a', ['1', '1', '2']);
  await untilCountsOf(one, { waiting: 0 });
  expect(payloadsOf(receiver, 'a')).toEqual(['1', '1', '2']);
});

// @shows AS-50.6
test('without a feature that sends messages there is no outbox table, and nothing to list', async () => {
  const { folder, one } = run;
  const config = configurationWith([]).parse({ name: 'App', scopes: {}, key_path: folder });
  expect(migrationsWith(config).some(({ name }) => name.includes('outbox'))).toBe(false);
  const silent = defineFeature({
    name: 'silent',
    start: () => ({ deliveries: { note: async () => ({ outcome: 'delivered' }) } }),
  });
  const options = { publicUrl: 'https://app.example', config, database: one.database };
  const host = {
    signedIn: async () => null,
    loadAccount: async () => null,
    holdsPermission: async () => false,
    loginUrl: '/login',
    log: { debug() {}, info() {}, warning() {}, error() {} },
  };
  const { outbox } = createAuthorizationServer({ ...options, host });
  expect([await outbox.counts(), await outbox.list()]).toEqual([null, []]);
  expect(() => createAuthorizationServer({ ...options, host, features: [silent] })).toThrow(
    'The feature silent delivers messages, so its sendsMessages must return true',
  );
});

test('a log line about a delivery does not contain the id of the request that started it', async () => {
  const { receiver, one } = run;
  receiver.answers = () => 298;
  await one.send('shop', 'first');
  runInContext(undefined, 'the request', () => one.server.outbox.start());
  await expect.poll(() => one.errors.map((values) => values?.['receiver'])).toEqual(['shop']);
  expect(one.errors[0]).not.toHaveProperty('requestId');
});

test('nor does it contain the id of a request in which the application created the server', async () => {
  const { receiver, openServer } = run;
  receiver.answers = () => 298;
  const late = await runInContext(undefined, 'the request', openServer);
  late.server.outbox.start();
  await late.send('shop', 'first');
  await expect.poll(() => late.errors.map((values) => values?.['receiver'])).toEqual(['shop']);
  expect(late.errors[0]).not.toHaveProperty('requestId');
});

// @engines sqlite: test/outbox.test.ts runs on every engine
import { setImmediate } from 'node:timers/promises';
import { migrate } from '@portico/sql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { QUIET_LOG } from '../../../../test/support/quiet-log.ts';
import { openWatchedStore, type WatchedStore } from '../../../../test/support/watched-store.ts';
import { outboxMigrations } from '../store/migrations/outbox.ts';
import type { Deliver, DeliveryResult, OutboxMessage } from './message.ts';
import { Outbox } from './outbox.ts';

const START = 1_795_240_016_123;
const DAY = 86_400_000;
const DELIVERED = { outcome: 'delivered' } as const;

let watched: WatchedStore;
let now = START;
/** The payloads of all attempts, in order. */
let attempts: string[] = [];
let said: unknown[][] = [];
let deliver: Deliver;
/** Ends the deliveries that are left when a test ends. */
let over = Promise.withResolvers<DeliveryResult>();
const opened: Outbox[] = [];

beforeAll(async () => {
  watched = await openWatchedStore();
  await migrate(watched.database, outboxMigrations);
});
beforeEach(async () => {
  [now, attempts, said] = [START, [], []];
  over = Promise.withResolvers();
  deliver = async () => DELIVERED;
  watched.meanwhile = null;
  await watched.emptied('oauth_outbox_messages', 'oauth_outbox_receivers');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(async () => {
  // In this order: the mocks replace functions of the fake timers.
  vi.restoreAllMocks();
  vi.useRealTimers();
  over.resolve(DELIVERED);
  await Promise.all(opened.splice(0).map((outbox) => outbox.stop()));
});
afterAll(() => watched.close());

function open(kinds: readonly string[] = ['note']): Outbox {
  const attempt: Deliver = (message, signal) => {
    attempts.push(message.payload);
    return Promise.race([deliver(message, signal), over.promise]);
  };
  const outbox = new Outbox({
    database: watched.database,
    isOn: true,
    deliveries: () => Object.fromEntries(kinds.map((kind) => [kind, attempt])),
    clock: () => now,
    random: () => 0.5,
    log: {
      ...QUIET_LOG,
      warning: (...line) => void said.push(line),
      error: (...line) => void said.push(line),
    },
  });
  opened.push(outbox);
  return outbox;
}

/** Adds messages for a receiver. */
async function add(receiver: string, ...payloads: readonly string[]): Promise<void> {
  const messages = payloads.map((payload) => ({
    kind: 'note',
    receiver,
    payload,
    expiresAt: START + DAY,
  }));
  const outbox = open();
  await watched.database.transaction((connection) => outbox.add(connection, messages));
}

const statements = () => watched.reads.length + watched.writes.length;
/** Waits until nothing uses the store any more. Only timers and deliveries can follow. */
async function settled(): Promise<void> {
  for (let quiet = 0, before = statements(); quiet < 10; quiet += 1) {
    await setImmediate();
    if (statements() !== before) [quiet, before] = [0, statements()];
  }
}
async function run(outbox = open()): Promise<Outbox> {
  outbox.start();
  await settled();
  return outbox;
}
/** How often a process has looked for messages. It looks for healthy receivers and for others. */
const looks = () => watched.reads.filter((sql) => sql.includes('is_troubled = ?')).length / 2;
/** Collects the leases of a receiver, one for each turn, during its deliveries. */
function leasesOf(receiver: string): ReadonlySet<unknown> {
  const [leases, inner] = [new Set<unknown>(), deliver];
  deliver = async (...given) => {
    leases.add((await receiverOf(receiver))?.holder);
    return inner(...given);
  };
  return leases;
}

interface Receiver {
  readonly waiting: number;
  readonly undelivered: number;
  readonly failures: number;
  readonly is_troubled: number;
  readonly due_at: number;
  readonly holder: string | null;
  readonly reason: string | null;
}
const receiverOf = async (receiver: string) =>
  (
    await watched.rowsOf<Receiver>(
      'SELECT waiting, undelivered, failures, is_troubled, due_at, holder, reason ' +
        'FROM oauth_outbox_receivers WHERE receiver = ?',
      receiver,
    )
  )[0];
const set = (receiver: string, values: Readonly<Record<string, string | number>>) =>
  watched.set('oauth_outbox_receivers', ['receiver', receiver], values);
/** The attempts and reasons of the messages that are left. */
const left = () =>
  watched.rowsOf(
    'SELECT payload, attempts, reason, undelivered_at AS given_up FROM oauth_outbox_messages ' +
      'ORDER BY number',
  );
const names = (count: number, prefix = 'r') =>
  Array.from({ length: count }, (_, index) => `${prefix}${100 + index}`);

describe('a delivery', () => {
  test('gets the message, and the outbox then removes it', async () => {
    await add('shop', 'one');
    const got: unknown[] = [];
    deliver = async (message, signal) => {
      got.push(message, signal.aborted, await receiverOf('shop'));
      return DELIVERED;
    };
    await run();
    const id = expect.stringMatching(/^[\da-f]{32}$/) as string;
    const message = { id, receiver: 'shop', payload: 'one', createdAt: START, attempts: 0 };
    expect(got).toEqual([
      message satisfies OutboxMessage,
      false,
      expect.objectContaining({ due_at: START + 60_000, holder: id }),
    ]);
    expect(await left()).toEqual([]);
    const { MAX_SAFE_INTEGER: never } = Number;
    const done = { waiting: 0, undelivered: 0, failures: 0, is_troubled: 0, due_at: never };
    expect(await receiverOf('shop')).toEqual({ ...done, holder: null, reason: null });
    expect(said).toEqual([]);
  });

  test.each([1, 50, 51])('of %i messages keeps their order, in one turn', async (count) => {
    await add('shop', ...names(count));
    const pages = () => watched.reads.filter((sql) => sql.includes('payload FROM')).length;
    const [before, leases] = [pages(), leasesOf('shop')];
    await run();
    expect(attempts).toEqual(names(count));
    expect(pages() - before).toBe(Math.floor(count / 50) + 1);
    expect(leases.size).toBe(1);
    expect(await left()).toEqual([]);
    expect(await receiverOf('shop')).toMatchObject({ waiting: 0, holder: null });
  });

  test('of an obsolete message removes it, and of a refused one keeps it for an operator', async () => {
    const results: Record<string, DeliveryResult> = {
      obsolete: { outcome: 'obsolete' },
      refused: { outcome: 'refused', reason: 'no\u0000 thanks' },
      last: { outcome: 'refused', reason: 'r'.repeat(201) },
    };
    deliver = async ({ payload }) => results[payload] ?? DELIVERED;
    await add('shop', 'obsolete', 'refused', 'good', 'last');
    await run();
    expect(attempts).toEqual(['obsolete', 'refused', 'good', 'last']);
    expect(await left()).toEqual([
      { payload: 'refused', attempts: 0, reason: 'no  thanks', given_up: START },
      { payload: 'last', attempts: 0, reason: 'r'.repeat(200), given_up: START },
    ]);
    const state = { waiting: 0, undelivered: 2, failures: 0, is_troubled: 0, holder: null };
    expect(await receiverOf('shop')).toMatchObject(state);
  });

  test('is not attempted for an expired message, which keeps its last reason', async () => {
    await add('shop', 'never', 'again', 'lasts');
    const about = (payload: string, values: Readonly<Record<string, string | number>>) =>
      watched.set('oauth_outbox_messages', ['payload', payload], values);
    await about('never', { expires_at: START });
    await about('again', { expires_at: START, reason: 'no answer' });
    await about('lasts', { expires_at: START + 1 });
    await run();
    expect(attempts).toEqual(['lasts']);
    expect(await left()).toEqual([
      { payload: 'never', attempts: 0, reason: 'expired: no attempt was made', given_up: START },
      { payload: 'again', attempts: 0, reason: 'expired: no answer', given_up: START },
    ]);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an unknown outcome', { outcome: 'sent' }],
    ['no reason for a failure', { outcome: 'failed' }],
    ['no reason for a delay', { outcome: 'postponed' }],
    ['no reason for a refusal', { outcome: 'refused' }],
    ['a reason that is not a text', { outcome: 'refused', reason: 7 }],
  ])('has failed if it returns %s', async (_, result) => {
    deliver = async () => result as DeliveryResult;
    await add('shop', 'one');
    await run();
    const reason = 'the delivery returned an unknown outcome';
    expect(await left()).toEqual([{ payload: 'one', attempts: 1, reason, given_up: null }]);
    expect(said).toEqual([]);
  });

  test('has failed if it throws, and the log then has the error', async () => {
    const exception = new Error('a fault');
    deliver = async () => {
      throw exception;
    };
    await add('shop', 'one');
    await run();
    const reason = 'the delivery failed in this process; see the log';
    expect(await left()).toEqual([{ payload: 'one', attempts: 1, reason, given_up: null }]);
    expect(said).toEqual([
      [
        'A message of the kind {kind} for {receiver} could not be delivered: {exception}',
        { kind: 'note', receiver: 'shop', exception },
      ],
    ]);
  });

  test('has failed if it takes longer than ten seconds', async () => {
    const late = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
    deliver = () => new Promise(() => {});
    await add('shop', 'one');
    await run();
    expect(timeout).toHaveBeenCalledWith(10_000);
    expect(await receiverOf('shop')).toMatchObject({ failures: 0 });
    late.abort();
    await settled();
    const reason = 'it took longer than ten seconds';
    expect(await receiverOf('shop')).toMatchObject({ failures: 1, reason, holder: null });
  });
});

describe('after a failed attempt', () => {
  const failed = async (): Promise<DeliveryResult> => ({ outcome: 'failed', reason: 'down' });
  const postponed = async (): Promise<DeliveryResult> => ({ outcome: 'postponed', reason: 'busy' });

  test('the receiver waits, longer after each further one, and keeps the order', async () => {
    deliver = failed;
    await add('shop', 'one', 'two');
    const outbox = await run();
    const state = { waiting: 2, is_troubled: 1, holder: null, reason: 'down' };
    expect(await receiverOf('shop')).toEqual({
      ...state,
      undelivered: 0,
      failures: 1,
      due_at: START + 1000,
    });
    now += 1000;
    outbox.wake();
    await settled();
    expect(await receiverOf('shop')).toMatchObject({ failures: 2, due_at: now + 2000 });
    expect(attempts).toEqual(['one', 'one']);
    expect(await left()).toMatchObject([{ payload: 'one', attempts: 2 }, { payload: 'two' }]);
  });

  test('a success before it in the same turn makes it the first one', async () => {
    await add('shop', 'one', 'two');
    await set('shop', { failures: 5, is_troubled: 1 });
    deliver = ({ payload }) => (payload === 'one' ? Promise.resolve(DELIVERED) : failed());
    await run();
    expect(await receiverOf('shop')).toMatchObject({ failures: 1, due_at: START + 1000 });
  });

  test('a postponed message moves behind the others, and they wait a second at most', async () => {
    deliver = postponed;
    await add('shop', 'one', 'two');
    await set('shop', { failures: 9 });
    const outbox = await run();
    expect(attempts).toEqual(['one']);
    expect(await receiverOf('shop')).toMatchObject({ failures: 10, due_at: START + 1000 });
    expect(await left()).toMatchObject([
      { payload: 'two', attempts: 0, reason: null },
      { payload: 'one', attempts: 1, reason: 'busy' },
    ]);
    const [two] = await watched.rowsOf<{ readonly id: string }>(
      "SELECT id FROM oauth_outbox_messages WHERE payload = 'two'",
    );
    await outbox.discard({ id: two?.id ?? '' });
    now += 1000;
    outbox.wake();
    await settled();
    // Its second delay is longer.
    expect(await receiverOf('shop')).toMatchObject({ failures: 11, due_at: now + 60_000 });
  });

  test('a postponed message waits less if few attempts have failed', async () => {
    deliver = postponed;
    await add('shop', 'one');
    await watched.set('oauth_outbox_messages', ['payload', 'one'], { attempts: 1 });
    await set('shop', { failures: 2 });
    await run();
    expect(await receiverOf('shop')).toMatchObject({ due_at: START + 4000 });
  });
});

describe('a turn', () => {
  /** Delivers `payload` slowly. */
  const slowly =
    (slow: string, milliseconds: number): Deliver =>
    async ({ payload }) => {
      if (payload === slow) now += milliseconds;
      return DELIVERED;
    };

  test.each([
    [1000, 0],
    [1001, 1],
  ])('with a delivery of %i ms makes its receiver slow: %i', async (milliseconds, isTroubled) => {
    await add('shop', 'one', 'two');
    deliver = slowly('one', milliseconds);
    await run();
    expect(attempts).toEqual(['one', 'two']);
    expect(await receiverOf('shop')).toMatchObject({ is_troubled: isTroubled });
  });

  test('with only fast deliveries makes a slow receiver fast again', async () => {
    await add('shop', 'one');
    await set('shop', { is_troubled: 1, failures: 3, reason: 'down' });
    await run();
    const healthy = { is_troubled: 0, failures: 0, reason: null };
    expect(await receiverOf('shop')).toMatchObject(healthy);
  });

  test.each([
    [5000, 1],
    [5001, 2],
  ])('of %i ms ends, so that the next receiver gets one', async (milliseconds, turns) => {
    await add('shop', 'one', 'two');
    deliver = slowly('one', milliseconds);
    const leases = leasesOf('shop');
    await run();
    expect(attempts).toEqual(['one', 'two']);
    expect(leases.size).toBe(turns);
  });

  test.each([
    [30_000, START + 60_000],
    [30_001, START + 30_001 + 60_000],
  ])('renews its lease if less than half a minute is left (%i ms)', async (later, until) => {
    await add('shop', 'one', 'two');
    const leases: unknown[] = [];
    deliver = async () => {
      leases.push((await receiverOf('shop'))?.due_at);
      return DELIVERED;
    };
    const act = async () => void (now += later);
    watched.meanwhile = { before: /^DELETE FROM oauth_outbox_messages/, act };
    await run();
    expect(leases).toEqual([START + 60_000, until]);
  });

  test('ends at once if another process has its lease', async () => {
    await add('shop', 'one', 'two');
    deliver = async () => {
      await set('shop', { holder: 'another' });
      return DELIVERED;
    };
    const act = async () => void (now += 30_001);
    watched.meanwhile = { before: /^DELETE FROM oauth_outbox_messages/, act };
    await run();
    expect(attempts).toEqual(['one']);
    expect(await receiverOf('shop')).toMatchObject({ holder: 'another', waiting: 1 });
  });

  test('does not look at its lease before half a minute is left', async () => {
    await add('shop', 'one', 'two');
    const act = () => set('shop', { holder: 'another' });
    watched.meanwhile = { before: /payload FROM oauth_outbox_messages/, act };
    await run();
    expect(attempts).toEqual(['one', 'two']);
    expect(await receiverOf('shop')).toMatchObject({ holder: 'another', waiting: 0 });
  });

  test('ends without an attempt if an operator has discarded all messages meanwhile', async () => {
    await add('shop', 'one');
    const act = () => open().discard({});
    watched.meanwhile = { before: /payload FROM oauth_outbox_messages/, act };
    await run();
    expect(attempts).toEqual([]);
    const { MAX_SAFE_INTEGER: never } = Number;
    const state = { waiting: 0, is_troubled: 0, due_at: never, holder: null };
    expect(await receiverOf('shop')).toMatchObject(state);
  });
});

describe('the receivers at the same time', () => {
  /** Deliveries that have not ended, by receiver. */
  let running = new Map<string, () => void>();
  beforeEach(() => {
    running = new Map();
    deliver = ({ receiver }) =>
      new Promise((resolve) => {
        running.set(receiver, () => {
          running.delete(receiver);
          resolve(DELIVERED);
        });
      });
  });
  /** Ends a delivery. */
  const finish = async (receiver: string) => {
    running.get(receiver)?.();
    await settled();
  };
  const finishAll = async () => {
    while (running.size > 0) for (const receiver of running.keys()) await finish(receiver);
  };
  /** Adds a message for each receiver. The first receiver waits longest. */
  const addEach = async (receivers: readonly string[], isTroubled = 0) => {
    for (const [index, receiver] of receivers.entries()) {
      await add(receiver, receiver);
      await set(receiver, { is_troubled: isTroubled, due_at: START - 100 + index });
    }
  };

  test('are at most eight, and another one begins when one ends', async () => {
    await addEach(names(10));
    const outbox = open();
    outbox.start();
    outbox.wake();
    await settled();
    expect(running.size).toBe(8);
    const before = statements();
    outbox.wake();
    await settled();
    expect(statements()).toBe(before);
    await finish('r100');
    expect([...running.keys()]).toEqual(names(9).slice(1));
    await finish('r103');
    expect(running.size).toBe(8);
    await finishAll();
    expect(attempts).toEqual(names(10));
  });

  test('are at most four that are slow or failing', async () => {
    await addEach(names(5), 1);
    const outbox = await run();
    expect(running.size).toBe(4);
    outbox.wake();
    await settled();
    expect(running.size).toBe(4);
    await addEach(names(6, 'healthy'));
    outbox.wake();
    await settled();
    expect([...running.keys()]).toEqual([...names(4), ...names(4, 'healthy')]);
    await finish('healthy100');
    expect(running.size).toBe(8);
    await finish('r100');
    expect(running.has('healthy105')).toBe(true);
    expect(running.has('r104')).toBe(false);
    await finishAll();
    expect(attempts).toHaveLength(11);
  });

  test('are fewer slow ones if many others run', async () => {
    await addEach(names(3), 1);
    await addEach(names(6, 'healthy'));
    await run();
    expect([...running.keys()]).toEqual([...names(6, 'healthy'), ...names(2)]);
    await finishAll();
  });

  test('do not begin after stop(), which waits for those that run', async () => {
    await add('shop', 'one', 'two');
    const timers = vi.getTimerCount();
    const outbox = await run();
    await add('late', 'late');
    const stopped = vi.fn<() => void>();
    const stopping = outbox.stop().then(stopped);
    await settled();
    outbox.wake();
    await settled();
    expect(stopped).not.toHaveBeenCalled();
    await finish('shop');
    await stopping;
    expect(attempts).toEqual(['one']);
    const state = { waiting: 1, due_at: START, holder: null };
    expect(await receiverOf('shop')).toMatchObject(state);
    expect(vi.getTimerCount()).toBe(timers);
  });

  test('do not begin if stop() follows during the search', async () => {
    const timers = vi.getTimerCount();
    const outbox = open();
    const before = /is_troubled = \?/;
    const act = async () => {
      await addEach(['late']);
      outbox.wake();
      void outbox.stop();
    };
    const further = async () => void (watched.meanwhile = { before, act });
    watched.meanwhile = { before, act: further };
    await run(outbox);
    expect(await receiverOf('late')).toMatchObject({ waiting: 1, holder: null });
    expect(attempts).toEqual([]);
    expect(vi.getTimerCount()).toBe(timers);
  });
});

describe('the search', () => {
  test('happens only after the start, and at once for a message that is added during it', async () => {
    await add('shop', 'one');
    const outbox = open();
    outbox.wake();
    await settled();
    expect(attempts).toEqual([]);
    const act = async () => {
      await add('bank', 'two');
      outbox.wake();
    };
    watched.meanwhile = { before: /is_troubled = \?/, act };
    await run(outbox);
    expect(attempts.toSorted()).toEqual(['one', 'two']);
  });

  test('does not keep the process running', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await run();
    expect(timers.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([
      false,
    ]);
  });

  test('happens each half second, and more often for five seconds after a message', async () => {
    const outbox = await run();
    const counted = async (milliseconds: number) => {
      const before = looks();
      for (let passed = 0; passed < milliseconds; passed += 50) {
        vi.advanceTimersByTime(50);
        await settled();
      }
      return looks() - before;
    };
    expect(await counted(450)).toBe(0);
    expect(await counted(1050)).toBe(3);
    await add('shop', 'one');
    outbox.wake();
    await settled();
    // The last one is half a second after five seconds.
    expect(await counted(5450)).toBe(50);
    expect(await counted(50)).toBe(1);
    const before = statements();
    outbox.start();
    await settled();
    expect(statements()).toBe(before);
    await outbox.stop();
    expect(await counted(1000)).toBe(0);
  });

  test('happens at once if an operator retries messages', async () => {
    deliver = async () => ({ outcome: 'refused', reason: 'no' });
    await add('shop', 'one');
    const outbox = await run();
    expect(await outbox.retry({ receiver: 'shop' })).toBe(1);
    await settled();
    expect(attempts).toEqual(['one', 'one']);
  });

  test('does nothing for an outbox that delivers no kind of message', async () => {
    const before = statements();
    await run(open([]));
    expect(statements()).toBe(before);
    expect(said).toEqual([]);
  });

  test('waits five seconds after an error of the store, which is logged once', async () => {
    const exception = new Error('away');
    const fail = (before: RegExp) => {
      const act = async () => {
        throw exception;
      };
      watched.meanwhile = { before, act };
    };
    const line = ['The outbox cannot use the store: {exception}', { exception }];
    fail(/is_troubled = \?/);
    await run();
    expect(said).toEqual([line]);
    fail(/is_troubled = \?/);
    const before = watched.reads.length;
    vi.advanceTimersByTime(4999);
    await settled();
    expect(watched.reads.length).toBe(before);
    vi.advanceTimersByTime(1);
    await settled();
    expect(watched.reads.length).toBe(before + 1);
    expect(said).toEqual([line]);
    vi.advanceTimersByTime(5000);
    await settled();
    fail(/is_troubled = \?/);
    vi.advanceTimersByTime(500);
    await settled();
    expect(said).toEqual([line, line]);
  });

  test('finds a message again whose turn the store ended, after its lease', async () => {
    await add('shop', 'one');
    const exception = new Error('away');
    const act = async () => {
      throw exception;
    };
    watched.meanwhile = { before: /payload FROM oauth_outbox_messages/, act };
    const outbox = await run();
    expect(said).toEqual([['The outbox cannot use the store: {exception}', { exception }]]);
    now += 59_999;
    outbox.wake();
    await settled();
    expect(attempts).toEqual([]);
    now += 1;
    outbox.wake();
    await settled();
    expect(attempts).toEqual(['one']);
  });

  test('logs no error after stop()', async () => {
    const outbox = open();
    outbox.start();
    const act = async () => {
      throw new Error('closed');
    };
    watched.meanwhile = { before: /is_troubled = \?/, act };
    await outbox.stop();
    expect(said).toEqual([]);
  });
});

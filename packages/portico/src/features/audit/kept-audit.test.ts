// @engines sqlite: test/kept-audit.test.ts runs on every engine
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openWatchedStore, type WatchedStore } from '../../../../../test/support/watched-store.ts';
import type { AuditEvent } from '../../auditing/audit.ts';
import type { AuditFilter, AuditPage } from '../../auditing/kept-audit.ts';
import { StoredAudit } from './kept-audit.ts';
import { toRecord } from './record.ts';
import { AuditRecords } from './table.ts';

const ADA = { provider: 'users', id: '1' };
const BOB = { provider: 'users', id: '2' };

let watched: WatchedStore;
let table: AuditRecords;
let audit: StoredAudit;

beforeAll(async () => {
  watched = await openWatchedStore();
  table = new AuditRecords(watched.database);
  audit = new StoredAudit(table);
});
beforeEach(() => watched.emptied('oauth_audit'));
afterAll(() => watched.close());

const idAt = (time: number, number = 0) =>
  time.toString(16).padStart(12, '0') + number.toString(16).padStart(20, '0');

type Parts = Partial<Omit<AuditEvent & { readonly type: 'consent_granted' }, 'type'>>;

/** Stores one event for each element, a millisecond apart. The first one is at 1000. */
async function keep(...events: readonly Parts[]): Promise<void> {
  const records = events.map((parts, index) =>
    toRecord(
      { type: 'consent_denied', clientId: 'notes', person: ADA, ...parts },
      { id: idAt(1000 + index), at: 1000 + index, address: '192.0.2.1', requestId: 'r' },
    ),
  );
  for (let start = 0; start < records.length; start += 500)
    await table.insert(records.slice(start, start + 500));
}

const timesOf = ({ items }: AuditPage) => items.map(({ at }) => at);

/** Returns the times of the events on each page. */
async function pages(filter: AuditFilter, limit: number): Promise<readonly (readonly number[])[]> {
  const all: (readonly number[])[] = [];
  let after: string | null = null;
  do {
    const page: AuditPage = await audit.list(filter, after === null ? { limit } : { limit, after });
    all.push(timesOf(page));
    after = page.next;
  } while (after !== null);
  return all;
}

describe('the list', () => {
  test('has 50 events on a page, or as many as the limit', async () => {
    await keep(...Array.from({ length: 51 }, () => ({})));
    const first = await audit.list();
    expect([first.items.length, first.items[0]?.at, first.next]).toEqual([50, 1050, idAt(1001)]);
    expect(timesOf(await audit.list({}, { after: first.next ?? '' }))).toEqual([1000]);
    expect((await pages({}, 17)).map(({ length }) => length)).toEqual([17, 17, 17]);
    const { items, next } = await audit.list({}, { limit: 51 });
    expect([items.length, next]).toEqual([51, null]);
  });

  test('accepts limits from 1 to 1000', async () => {
    for (const limit of [1, 1000]) await expect(audit.list({}, { limit })).resolves.toBeDefined();
    for (const limit of [0, -1, 1001, 1.5, Number.NaN])
      await expect(audit.list({}, { limit })).rejects.toThrow('The limit must be from 1 to 1000');
  });

  test('accepts only cursors of earlier pages', async () => {
    const id = idAt(1000);
    for (const after of ['', 'x', id.slice(1), `${id}0`, id.toUpperCase(), `${id}\n`])
      await expect(audit.list({}, { after })).rejects.toThrow(
        'Invalid cursor; use the cursor that the previous page returned',
      );
  });

  test('begins at since, and ends before until, rounded up to milliseconds', async () => {
    await keep({}, {}, {}, {});
    const list = async (filter: AuditFilter) => timesOf(await audit.list(filter));
    expect(await list({ since: 1001, until: 1003 })).toEqual([1002, 1001]);
    expect(await list({ since: 1000.5, until: 1002.5 })).toEqual([1002, 1001]);
    expect(await list({ since: -1, until: 0xffff_ffff_ffff })).toEqual([1003, 1002, 1001, 1000]);
    expect(await list({ until: 0 })).toEqual([]);
    for (const time of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 48])
      for (const filter of [{ since: time }, { until: time }])
        await expect(audit.list(filter)).rejects.toThrow('This is not a valid time');
  });

  test('continues before the cursor, but never after until', async () => {
    await keep({}, {}, {}, {});
    const list = async (until: number, after: string) =>
      timesOf(await audit.list({ until }, { after }));
    expect(await list(1003, idAt(1002))).toEqual([1001, 1000]);
    expect(await list(1001, idAt(1002))).toEqual([1000]);
  });

  test.each<[string, AuditFilter]>([
    ['type', { type: 'consent_granted' }],
    ['client', { clientId: 'diary' }],
    ['authorization', { authorization: 'one' }],
    ['person', { person: BOB }],
  ])('finds the events with one %s', async (_, filter) => {
    await keep({}, {
      type: 'consent_granted',
      clientId: 'diary',
      authorization: 'one',
      person: BOB,
    } as Parts);
    expect(timesOf(await audit.list(filter))).toEqual([1001]);
  });

  test('finds the events that match several conditions, in any combination', async () => {
    const one = { clientId: 'diary', authorization: 'one', person: BOB };
    await keep(
      one,
      { ...one, clientId: 'notes' },
      { ...one, authorization: 'two' },
      { ...one, person: ADA },
      { ...one, person: { provider: 'staff', id: '2' } },
      { ...one, type: 'consent_granted' } as Parts,
      one,
    );
    const all = { ...one, type: 'consent_denied' } as const;
    expect(timesOf(await audit.list(all))).toEqual([1006, 1000]);
    for (const [left, more] of [
      ['clientId', 1001],
      ['authorization', 1002],
      ['type', 1005],
    ] as const) {
      const { [left]: _, ...others } = all;
      expect(timesOf(await audit.list(others))).toEqual([1006, more, 1000]);
    }
    const { person: _, ...others } = all;
    expect(timesOf(await audit.list(others))).toEqual([1006, 1004, 1003, 1000]);
  });

  test('finds nothing, and asks nothing, for texts that no database stores', async () => {
    watched.reads.length = 0;
    for (const filter of [
      { clientId: 'a\0' },
      { authorization: '\uD834' },
      { person: { provider: 'a\0', id: '1' } },
      { person: { provider: 'users', id: '\uD834' } },
      { clientId: 'notes', authorization: 'a\0' },
    ])
      expect(await audit.list(filter)).toEqual({ items: [], next: null });
    expect(watched.reads).toEqual([]);
  });
});

describe('a search with several conditions', () => {
  /** 2,300 events of one client. Every hundredth event is about Bob. */
  const many = Array.from({ length: 2300 }, (_, index) =>
    index % 100 === 0 ? { person: BOB } : {},
  );

  test('reads by the condition that matches the fewest events', async () => {
    await keep(...many);
    const found = [await pages({ clientId: 'notes', person: BOB }, 10)];
    found.push(await pages({ person: BOB, type: 'consent_denied' }, 10));
    for (const each of found) {
      expect(each.flat()).toEqual(Array.from({ length: 23 }, (_, index) => 3200 - index * 100));
      expect(each.map(({ length }) => length)).toEqual([10, 10, 3]);
    }
    watched.reads.length = 0;
    await audit.list({ clientId: 'notes', person: BOB });
    const keys = watched.reads.filter((sql) => sql.includes('LIMIT 200'));
    expect(keys).toHaveLength(1);
    expect(keys[0]).toContain('user_id = ?');
  });

  test('reads no more than it needs, and reports the end', async () => {
    await keep(...Array.from({ length: 250 }, (_, index) => (index < 240 ? {} : { person: BOB })));
    const filter = { clientId: 'notes', person: BOB };
    watched.reads.length = 0;
    expect((await audit.list(filter, { limit: 9 })).next).toBe(idAt(1241));
    expect(watched.reads.filter((sql) => sql.includes('LIMIT 200'))).toHaveLength(1);
    expect(watched.reads.filter((sql) => sql.includes('LIMIT 1000'))).toEqual([]);
    expect((await audit.list(filter, { limit: 10 })).next).toBeNull();
  });

  test('compares each condition, also with events about no person', async () => {
    const one = { authorization: 'one' };
    const others = [{ person: BOB }, { ...one, person: BOB }, { ...one, person: null } as never];
    await keep(...Array.from({ length: 1001 }, () => one), ...others);
    expect(timesOf(await audit.list({ ...one, person: BOB }))).toEqual([2002]);
    await watched.emptied('oauth_audit');
    await keep(...others);
    expect(timesOf(await audit.list({ ...one, person: BOB }))).toEqual([1001]);
  });

  test('reads at most 2,200 events for a page, and the next page continues there', async () => {
    await keep(
      ...many.map((_, index) =>
        index < 5 ? ({ type: 'consent_granted', person: BOB } as Parts) : {},
      ),
    );
    const filter = { clientId: 'notes', type: 'consent_denied' } as const;
    expect(await pages({ ...filter, person: BOB }, 10)).toEqual([[]]);
    // Both conditions match too many events to estimate which one is rarer.
    const both = many.map((_, index) =>
      index % 2 === 0 ? { clientId: 'diary' } : { person: BOB },
    );
    await watched.emptied('oauth_audit');
    await keep({ clientId: 'diary', person: BOB }, ...both, ...both);
    const first = await audit.list({ clientId: 'diary', person: BOB });
    expect([first.items, first.next?.length]).toEqual([[], 32]);
    const rest = await pages({ clientId: 'diary', person: BOB }, 50);
    expect(rest).toEqual([[], [1000]]);
  });
});

describe('a person who is erased', () => {
  test('gets a pseudonym in at most 500 events at once', async () => {
    await keep(...Array.from({ length: 501 }, () => ({})), { person: BOB });
    expect(await audit.pseudonymise(ADA, 'gone')).toBe(500);
    expect(await audit.pseudonymise(ADA, 'gone')).toBe(1);
    expect(await audit.pseudonymise(ADA, 'gone')).toBe(0);
    expect(timesOf(await audit.list({ person: BOB }))).toEqual([1501]);
    expect(await audit.pseudonymise(BOB, 'gone', 1)).toBe(1);
  });

  test('is not looked for with an invalid batch, or under an id that is never stored', async () => {
    for (const batch of [0, -1, 1.5, Number.NaN, 2 ** 53])
      await expect(audit.pseudonymise(ADA, 'gone', batch)).rejects.toThrow(
        'batch must be a whole number of at least 1',
      );
    watched.reads.length = 0;
    expect(await audit.pseudonymise({ provider: 'users', id: 'a\0' }, 'gone')).toBe(0);
    expect(watched.reads).toEqual([]);
  });
});

test('old events are removed in batches, and newer ones stay', async () => {
  await keep({}, {}, {}, {});
  expect(await audit.removeBefore(1003, 2)).toBe(2);
  expect(await audit.removeBefore(1003, 2)).toBe(1);
  expect(timesOf(await audit.list())).toEqual([1003]);
});

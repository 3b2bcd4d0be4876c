import { describe, expect, test, vi } from 'vitest';
import { QUIET_LOG } from '../../../../test/support/quiet-log.ts';
import { Pruning, type ExpiringOfFeatures } from './pruning.ts';
import type { ExpiredRecords } from './sql/expired.ts';

const OLD_EVENTS = {
  kind: 'auditEvents',
  called: 'audit events',
  which: 'are old',
  batch: 500,
} as const;

test('pruning pauses between the batches of each kind, and counts all removed rows', async () => {
  const did: string[] = [];
  /** How many rows of each kind remain. */
  const left = { families: 250, uses: 150, clients: 101, tokens: 100, events: 700 };
  const take = (kind: keyof typeof left, limit: number) => {
    const taken = Math.min(left[kind], limit);
    left[kind] -= taken;
    did.push(kind);
    return taken;
  };
  const pruning = new Pruning(
    {
      async prune(_, limit) {
        const families = take('families', limit);
        return { families, consentRequests: 0, more: left.families > 0 };
      },
      pruneSingleUses: async (_, limit) => take('uses', limit),
      async pruneRegistrations(_, limit) {
        return { clients: take('clients', limit), more: left.clients > 0 };
      },
      async pruneAccessTokens(_, __, limit) {
        return { removed: take('tokens', limit), last: left.tokens > 0 ? 'the last' : null };
      },
    } satisfies Partial<ExpiredRecords> as unknown as ExpiredRecords,
    () => ({
      usesOnce: true,
      expiring: [{ ...OLD_EVENTS, remove: async (limit) => take('events', limit) }],
    }),
    true,
    () => 0,
    QUIET_LOG,
    async (took) => {
      expect(took).toBeGreaterThanOrEqual(0);
      did.push('pause');
    },
  );
  expect(await pruning.all()).toEqual({
    families: 250,
    consentRequests: 0,
    clients: 101,
    accessTokens: 100,
    auditEvents: 700,
  });
  const separated = (kind: string, times: number) =>
    Array.from({ length: times }, () => kind).join(' pause ');
  expect(did.join(' ')).toBe(
    [
      separated('families', 3),
      separated('uses', 3),
      separated('clients', 2),
      'tokens',
      separated('events', 3),
    ].join(' '),
  );
});

test('pruning everything continues if another process removes the same rows', async () => {
  /** How many rows each batch removes. Another process removes the rows of two of them. */
  const removed = [0, 500, 0, 500, 200];
  const pruning = new Pruning(
    {
      prune: async () => ({ families: 0, consentRequests: 0, more: false }),
      pruneSingleUses: async () => 0,
      pruneRegistrations: async () => ({ clients: 0, more: false }),
      pruneAccessTokens: async () => ({ removed: 0, last: null }),
    } satisfies Partial<ExpiredRecords> as unknown as ExpiredRecords,
    () => ({
      usesOnce: false,
      expiring: [{ ...OLD_EVENTS, remove: async () => removed.shift() ?? 0 }],
    }),
    false,
    () => 0,
    QUIET_LOG,
    async () => {},
  );
  expect((await pruning.all()).auditEvents).toBe(1200);
});

test('pruning everything continues while a kind says that it must read more rows', async () => {
  const batches = [
    { count: 0, more: true },
    { count: 0, more: true },
    { count: 0, more: true },
    { count: 2, more: false },
  ];
  const pruning = new Pruning(
    {
      prune: async () => ({ families: 0, consentRequests: 0, more: false }),
      pruneSingleUses: async () => 0,
      pruneRegistrations: async () => ({ clients: 0, more: false }),
      pruneAccessTokens: async () => ({ removed: 0, last: null }),
    } satisfies Partial<ExpiredRecords> as unknown as ExpiredRecords,
    () => ({
      usesOnce: false,
      expiring: [
        { ...OLD_EVENTS, remove: async () => batches.shift() ?? { count: 99, more: false } },
      ],
    }),
    false,
    () => 0,
    QUIET_LOG,
    async () => {},
  );
  expect((await pruning.all()).auditEvents).toBe(2);
});

test('pruning everything starts at the first row of each kind, also between batches of requests', async () => {
  const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];
  const left = new Set(KEYS);
  const pruning: Pruning = new Pruning(
    {
      prune: async () => ({ families: 0, consentRequests: 0, more: false }),
      pruneSingleUses: async () => 0,
      pruneRegistrations: async () => ({ clients: 0, more: false }),
      pruneAccessTokens: async () => ({ removed: 0, last: null }),
    } satisfies Partial<ExpiredRecords> as unknown as ExpiredRecords,
    () => ({
      usesOnce: false,
      expiring: [
        {
          ...OLD_EVENTS,
          async remove(_, after) {
            const keys = KEYS.filter((key) => key > after).slice(0, 2);
            const count = keys.filter((key) => left.delete(key)).length;
            const last = keys.length === 2 ? (keys.at(-1) ?? null) : null;
            return { count, more: last !== null, last };
          },
        },
      ],
    }),
    false,
    () => 0,
    QUIET_LOG,
    async () => fiftyInsertions(),
  );
  async function fiftyInsertions() {
    for (let count = 1; count < 50; count += 1) void pruning.tick();
    await pruning.tick();
  }
  await fiftyInsertions();
  expect([...left]).toEqual(['c', 'd', 'e', 'f']);
  await fiftyInsertions();
  expect([...left]).toEqual(['e', 'f']);
  for (const key of ['a', 'b']) left.add(key);
  await pruning.all();
  expect([...left]).toEqual([]);
});

describe('pruning while serving', () => {
  const HOUR = 3_600_000;
  const DAY = 24 * HOUR;
  const NOW = 1_795_240_016_123;

  /**
   * Returns the store calls that every fiftieth insertion makes. `answers` lists the results of
   * `pruneAccessTokens`, in order. `null` means that the store is unavailable.
   */
  function serving(
    features: ExpiringOfFeatures = { usesOnce: false, expiring: [] },
    registrations = false,
    answers: readonly ({ readonly removed: number; readonly last: string | null } | null)[] = [],
  ) {
    const asked: unknown[] = [];
    const warnings: unknown[] = [];
    const left = [...answers];
    const warning = (_: string, context: unknown) => void warnings.push(context);
    const pruning = new Pruning(
      {
        async prune(...all) {
          asked.push(['expired', ...all]);
          return { families: 0, consentRequests: 0, more: true };
        },
        pruneSingleUses: async (...all) => asked.push(['single uses', ...all]),
        async pruneRegistrations(...all) {
          asked.push(['registrations', ...all]);
          return { clients: 0, more: true };
        },
        async pruneAccessTokens(...all) {
          asked.push(['access tokens', ...all]);
          const answer = left.length === 0 ? { removed: 0, last: null } : left.shift();
          if (!answer) throw new Error('The store is away');
          return answer;
        },
      } satisfies Partial<ExpiredRecords> as unknown as ExpiredRecords,
      () => features,
      registrations,
      () => NOW,
      { ...QUIET_LOG, warning },
    );
    /** Makes fifty insertions, which trigger the next batch. */
    async function insertFifty() {
      asked.length = 0;
      for (let count = 1; count < 50; count += 1) expect(pruning.tick()).toBeNull();
      expect(asked).toEqual([]);
      await pruning.tick();
      return [...asked];
    }
    return { insertFifty, warnings };
  }

  // @shows AS-18.8, AS-19.10
  test('removes 100 rows of each kind that expired an hour ago at every 50th insertion', async () => {
    const remove = vi.fn<(limit: number, after: string) => Promise<number>>(async (limit) => limit);
    const expiring = [{ ...OLD_EVENTS, remove }];
    const { insertFifty } = serving({ usesOnce: true, expiring }, true);
    for (let round = 0; round < 2; round += 1) {
      expect(await insertFifty()).toEqual([
        ['expired', NOW - HOUR, 100],
        [
          'registrations',
          {
            neverUsedBefore: NOW - HOUR - DAY,
            unusedBefore: NOW - HOUR - 91 * DAY,
            expiredBefore: NOW - HOUR,
            uncountedBefore: NOW - 2 * HOUR,
          },
          100,
        ],
        ['single uses', NOW - HOUR, 100],
        ['access tokens', '', NOW - HOUR, 100],
      ]);
    }
    expect(remove.mock.calls).toEqual([
      [500, ''],
      [500, ''],
    ]);
  });

  test('skips the tables of features that are not used', async () => {
    expect(await serving().insertFifty()).toEqual([
      ['expired', NOW - HOUR, 100],
      ['access tokens', '', NOW - HOUR, 100],
    ]);
  });

  test('continues past access tokens that are still valid, and starts again at the end', async () => {
    const full = { removed: 100, last: 'm' };
    const living = { removed: 3, last: 'c' };
    const { insertFifty, warnings } = serving(undefined, undefined, [
      // All tokens of the first batch had expired, so the second search does not run.
      full,
      living,
      { removed: 0, last: 'f' },
      living,
      { removed: 9, last: null },
      living,
      { removed: 0, last: 'e' },
      // The store is unavailable, so the position of the search does not change.
      null,
      living,
      { removed: 0, last: 'h' },
    ]);
    const looked = async () => (await insertFifty()).slice(1).map((each) => (each as string[])[1]);
    expect(await looked()).toEqual(['']);
    expect(await looked()).toEqual(['', '']);
    expect(await looked()).toEqual(['', 'f']);
    expect(await looked()).toEqual(['', '']);
    expect(await looked()).toEqual(['']);
    expect(warnings).toEqual([{ exception: new Error('The store is away') }]);
    expect(await looked()).toEqual(['', 'e']);
  });
});

test('pruning everything starts at the first access token, and keeps rows for an hour after expiry', async () => {
  const asked: unknown[] = [];
  const expired: unknown[] = [];
  const reports: unknown[] = [];
  const ends = ['b', 'c', null];
  const pruning = new Pruning(
    {
      async prune(...all) {
        expired.push(all);
        return { families: 1, consentRequests: 2, more: false };
      },
      async pruneSingleUses(...all) {
        expired.push(all);
        return 0;
      },
      pruneRegistrations: async () => ({ clients: 3, more: false }),
      async pruneAccessTokens(...all) {
        asked.push(all);
        return { removed: 4, last: ends[asked.length - 1] ?? null };
      },
    } satisfies Partial<ExpiredRecords> as unknown as ExpiredRecords,
    () => ({ usesOnce: false, expiring: [] }),
    false,
    () => 10_000_000,
    QUIET_LOG,
    async () => {},
  );
  const total = { families: 1, consentRequests: 2, clients: 3, accessTokens: 12 };
  expect(await pruning.all((removed) => reports.push(removed))).toEqual(total);
  // Rows are removed an hour after they expire.
  expect(expired).toEqual([
    [6_400_000, 100],
    [6_400_000, 100],
  ]);
  expect(asked).toEqual(['', 'b', 'c'].map((after) => [after, 6_400_000, 100]));
  const none = { families: 0, consentRequests: 0, clients: 0, accessTokens: 0 };
  expect(reports).toEqual([
    { ...none, families: 1, consentRequests: 2 },
    { ...none, families: 1, consentRequests: 2 },
    { ...total, accessTokens: 0 },
    { ...total, accessTokens: 4 },
    { ...total, accessTokens: 8 },
    total,
  ]);
});

describe('pruning when one kind of rows cannot be removed', () => {
  const FAILED = new Error('This table is damaged');
  const LATER = new Error('This table is damaged too');

  /** Two kinds fail. `asked` lists the kinds whose removal was tried. */
  function failing(failure: Error = FAILED) {
    const asked: string[] = [];
    const warnings: unknown[] = [];
    const failFor = (kind: string, error: Error) => async () => {
      asked.push(kind);
      throw error;
    };
    const pruning = new Pruning(
      {
        prune: failFor('expired', failure),
        async pruneSingleUses() {
          asked.push('single uses');
          return 0;
        },
        async pruneRegistrations() {
          asked.push('registrations');
          return { clients: 3, more: false };
        },
        async pruneAccessTokens() {
          asked.push('access tokens');
          return { removed: 4, last: null };
        },
      } satisfies Partial<ExpiredRecords> as unknown as ExpiredRecords,
      () => ({
        usesOnce: true,
        expiring: [{ ...OLD_EVENTS, remove: failFor('events', LATER) }],
      }),
      true,
      () => 0,
      { ...QUIET_LOG, warning: (_, context) => void warnings.push(context) },
      async () => {},
    );
    return { pruning, asked, warnings };
  }

  const KINDS = ['access tokens', 'events', 'expired', 'registrations', 'single uses'];

  test('still removes the others while serving, and logs each failure once', async () => {
    const { pruning, asked, warnings } = failing();
    for (let count = 1; count < 50; count += 1) void pruning.tick();
    await pruning.tick();
    expect(asked.toSorted()).toEqual(KINDS);
    expect(warnings).toEqual([{ exception: FAILED }, { exception: LATER }]);
  });

  test('still removes the others when pruning everything, then fails with the first failure', async () => {
    const { pruning, asked, warnings } = failing();
    const reports: unknown[] = [];
    await expect(pruning.all((removed) => reports.push(removed))).rejects.toBe(FAILED);
    expect(asked.toSorted()).toEqual(KINDS);
    expect(warnings).toEqual([{ exception: LATER }]);
    expect(reports.at(-1)).toMatchObject({ clients: 3, accessTokens: 4 });
  });

  const AWAY = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  test('stops while serving if the store is unavailable, because a request waits for it', async () => {
    const { pruning, asked, warnings } = failing(AWAY);
    for (let count = 1; count < 50; count += 1) void pruning.tick();
    await pruning.tick();
    expect(asked).toEqual(['expired']);
    expect(warnings).toEqual([{ exception: AWAY }]);
  });

  test('then starts with another kind, because one kind alone may take too long', async () => {
    const { pruning, asked } = failing(AWAY);
    for (let count = 1; count <= 100; count += 1) await pruning.tick();
    expect(asked.toSorted()).toEqual([...KINDS, 'expired'].toSorted());
    expect(asked[1]).toBe('registrations');
  });
});

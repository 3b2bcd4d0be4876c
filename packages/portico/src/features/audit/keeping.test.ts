import { expect, onTestFinished, test, vi } from 'vitest';
import { QUIET_LOG } from '../../../../../test/support/quiet-log.ts';
import { withCurrentRequestId } from '../../http/context.ts';
import { Keeping } from './keeping.ts';
import { toRecord } from './record.ts';

const recordOf = (id: string) =>
  toRecord(
    { type: 'consent_denied', clientId: 'a client', person: { provider: 'users', id: '1' } },
    { id, at: 0, address: null, requestId: null },
  );

test('later events are stored without delay even if the log throws an error', async () => {
  let isAway = true;
  const kept: string[] = [];
  const keeping = new Keeping(
    {
      async insert(records) {
        if (isAway) throw new Error('The store is away');
        kept.push(...records.map(({ id }) => id));
      },
      isUnavailable: () => true,
    },
    withCurrentRequestId({
      ...QUIET_LOG,
      error() {
        throw new Error('The log cannot be written');
      },
    }),
  );
  await keeping.keep(recordOf('1'));
  isAway = false;
  await keeping.keep(recordOf('2'));
  expect(kept).toEqual(['2']);
});

test('10,000 events wait for a store that hangs, and further ones are logged at once', async () => {
  const hangs = Promise.withResolvers<void>();
  const said: unknown[] = [];
  const kept: string[] = [];
  const keeping = new Keeping(
    {
      async insert(records) {
        await hangs.promise;
        kept.push(...records.map(({ id }) => id));
      },
      isUnavailable: () => true,
    },
    {
      ...QUIET_LOG,
      error: (_, context) =>
        void said.push((context?.['record'] as { id?: unknown } | undefined)?.id),
    },
  );
  // The store is still writing the first record, and all other records wait.
  const all = Array.from({ length: 10_001 }, (_, index) => keeping.keep(recordOf(String(index))));
  expect(said).toEqual([]);
  await keeping.keep(recordOf('one more'));
  expect(said).toEqual(['one more']);
  hangs.resolve();
  await Promise.all(all);
  expect(kept).toHaveLength(10_001);
});

test('an event that is delayed and then refused by the store is logged only once', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ends = Promise.withResolvers<void>();
  const said: unknown[] = [];
  const keeping = new Keeping(
    { insert: () => ends.promise, isUnavailable: () => true },
    {
      ...QUIET_LOG,
      error: (_, context) =>
        void said.push((context?.['record'] as { id?: unknown } | undefined)?.id),
    },
  );
  const late = keeping.keep(recordOf('late'));
  await vi.advanceTimersByTimeAsync(1000);
  await late;
  await keeping.keep(recordOf('after it'));
  ends.reject(new Error('The store is away'));
  await vi.runAllTimersAsync();
  expect(said).toEqual(['late', 'after it']);
});

test('an event that the store refuses is logged only once, even if the events after it take long', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const said: unknown[] = [];
  const goesOn = Promise.withResolvers<void>();
  const keeping = new Keeping(
    {
      async insert([first, ...more]) {
        if (more.length > 0 || first?.id === 'refused') throw new Error('The record is refused');
        if (first?.id !== 'first') await goesOn.promise;
      },
      isUnavailable: () => false,
    },
    {
      ...QUIET_LOG,
      error: (_, context) =>
        void said.push((context?.['record'] as { id?: unknown } | undefined)?.id),
    },
  );
  const first = keeping.keep(recordOf('first'));
  const both = [keeping.keep(recordOf('refused')), keeping.keep(recordOf('slow'))];
  await first;
  await vi.advanceTimersByTimeAsync(1000);
  goesOn.resolve();
  await Promise.all(both);
  expect(said).toEqual(['refused', 'slow']);
});

/** Keeps events in a store that refuses each insert that `refuses` is true for. */
async function keepAll(
  count: number,
  refuses: (ids: readonly string[]) => boolean,
  isAway: boolean,
) {
  const inserts: string[][] = [];
  const said: unknown[] = [];
  const goesOn = Promise.withResolvers<void>();
  const keeping = new Keeping(
    {
      async insert(records) {
        const ids = records.map(({ id }) => id);
        inserts.push(ids);
        if (inserts.length === 1) await goesOn.promise;
        if (refuses(ids)) throw new Error('The records are refused');
      },
      isUnavailable: () => isAway,
    },
    {
      ...QUIET_LOG,
      error: (_, context) =>
        void said.push((context?.['record'] as { id?: unknown } | undefined)?.id),
    },
  );
  const all = Array.from({ length: count }, (_, index) => keeping.keep(recordOf(String(index))));
  goesOn.resolve();
  await Promise.all(all);
  return { inserts, said, keeping };
}

test('events that wait are stored together, in powers of two and at most 64 at once', async () => {
  const { inserts, said } = await keepAll(1 + 64 + 32 + 3, () => false, false);
  expect(inserts.map(({ length }) => length)).toEqual([1, 64, 32, 2, 1]);
  expect(inserts.flat()).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  expect(said).toEqual([]);
});

test('if one event of several is refused, the others are stored one by one', async () => {
  const { inserts, said } = await keepAll(5, (ids) => ids.includes('2'), false);
  expect(inserts).toEqual([['0'], ['1', '2', '3', '4'], ['1'], ['2'], ['3'], ['4']]);
  expect(said).toEqual(['2']);
});

test('if the store is away, events are not tried one by one', async () => {
  const { inserts, said, keeping } = await keepAll(5, (ids) => ids.length > 1, true);
  expect(inserts).toEqual([['0'], ['1', '2', '3', '4']]);
  expect(said).toEqual(['1', '2', '3', '4']);
  await keeping.keep(recordOf('later'));
  expect(inserts.at(-1)).toEqual(['later']);
});

test('a stored event is not logged later', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { said } = await keepAll(3, () => false, false);
  await vi.advanceTimersByTimeAsync(5000);
  expect(said).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

import { expect, test } from 'vitest';
import { isShort, MOST_VALUES, readAs } from './protocol-types.ts';

/** Returns an object with this many nested objects. */
function nested(levels: number): object {
  let value = {};
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

test('a value that makes a schema fail is rejected without an unhandled promise rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const [deep, flat] = [20_000, 20].map((levels) =>
    readAs('ClientCapabilities', { experimental: { x: nested(levels) } }),
  );
  // A rejection reaches the process after the current tasks are done.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(deep).toBeNull();
  expect(flat).not.toBeNull();
  expect(unhandled).toEqual([]);
});

test('a valid value is parsed, and unknown members are omitted', () => {
  expect(readAs('ContentBlock', { type: 'text', text: 'x', extra: 1 })).toEqual({
    type: 'text',
    text: 'x',
  });
  expect(readAs('ContentBlock', { type: 'text' })).toBeNull();
});

test('a value may contain as many values as the limit, and no more', () => {
  const values = (count: number) => Array.from({ length: count - 1 }, () => 1);
  expect(isShort(values(MOST_VALUES))).toBe(true);
  expect(isShort(values(MOST_VALUES + 1))).toBe(false);
});

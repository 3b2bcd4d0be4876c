import { expect, test } from 'vitest';
import { readAs } from './protocol-types.ts';

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
  const deep = { experimental: { x: nested(20_000) } };
  expect(readAs('ClientCapabilities', deep)).toBeNull();
  expect(readAs('ClientCapabilities', { experimental: { x: nested(20) } })).not.toBeNull();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('a valid value is parsed, and unknown members are omitted', () => {
  expect(readAs('ContentBlock', { type: 'text', text: 'x', extra: 1 })).toEqual({
    type: 'text',
    text: 'x',
  });
  expect(readAs('ContentBlock', { type: 'text' })).toBeNull();
});

import { expect, test } from 'vitest';
import { readAs } from './protocol-types.ts';

/** Objects within one another. */
function nested(levels: number): object {
  let value = {};
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

test('a value that the schemas cannot be done with is none of its type, and rejects nothing', async () => {
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

test('a value of the type is read, and what the type does not have is left out', () => {
  expect(readAs('ContentBlock', { type: 'text', text: 'x', extra: 1 })).toEqual({ type: 'text', text: 'x' });
  expect(readAs('ContentBlock', { type: 'text' })).toBeNull();
});

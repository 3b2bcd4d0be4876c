import { expect, test } from 'vitest';
import { ContentRoom } from './content-room.ts';

test('the answers to a request contain at most 4 MiB of resources', () => {
  const room = new ContentRoom();
  const MIB = 1024 * 1024;
  expect([room.take(MIB), room.take(3 * MIB + 1), room.take(3 * MIB)]).toEqual([true, false, true]);
  expect([room.take(1), room.take(0)]).toEqual([false, true]);
  expect(new ContentRoom().take(4 * MIB + 1)).toBe(false);
});

import { expect, test } from 'vitest';
import { makeRoom } from './make-room.ts';

const BUDGET = { total: 100, ofOneNetwork: 60 };

/**
 * `held` contains the sizes of each network's items in bytes, oldest first. An item's key consists
 * of the network and the item's index.
 */
async function roomFor(
  newcomer: { readonly network: string; readonly bytes: number },
  held: Readonly<Record<string, readonly number[]>>,
) {
  const asked: string[] = [];
  const sums = Object.entries(held).map(([network, all]): [string, number] => [
    network,
    all.reduce((total, bytes) => total + bytes, 0),
  ]);
  const leaving = await makeRoom(newcomer, new Map(sums), BUDGET, async (network) => {
    asked.push(network);
    return (held[network] ?? []).map((bytes, index) => ({ key: `${network}${index}`, bytes }));
  });
  return { leaving, asked };
}

test('an item that fits the total and the share, to the byte, is accepted without a query', async () => {
  expect(await roomFor({ network: 'b', bytes: 40 }, { a: [60] })).toEqual({
    leaving: [],
    asked: [],
  });
  expect(await roomFor({ network: 'a', bytes: 20 }, { a: [20, 20] })).toEqual({
    leaving: [],
    asked: [],
  });
  expect(await roomFor({ network: 'a', bytes: 60 }, {})).toEqual({ leaving: [], asked: [] });
});

test('an item one byte above the share of its network is refused, even if everything is empty', async () => {
  expect(await roomFor({ network: 'a', bytes: 21 }, { a: [20, 20] })).toEqual({
    leaving: null,
    asked: [],
  });
  expect(await roomFor({ network: 'a', bytes: 61 }, {})).toEqual({ leaving: null, asked: [] });
});

test('the oldest items of the network with the most are removed, as many as needed, in one query', async () => {
  const held = { a: [5, 5, 5, 25], b: [30, 5], c: [25] };
  expect(await roomFor({ network: 'd', bytes: 10 }, held)).toEqual({
    leaving: ['a0', 'a1'],
    asked: ['a'],
  });
  expect(await roomFor({ network: 'd', bytes: 11 }, held)).toEqual({
    leaving: ['a0', 'a1', 'b0'],
    asked: ['a', 'b'],
  });
});

test('an item is refused, and no other removed, if its network would then have the most', async () => {
  const held = { a: [10, 30], b: [30], c: [20, 10] };
  expect(await roomFor({ network: 'd', bytes: 30 }, held)).toEqual({ leaving: null, asked: ['a'] });
  expect(await roomFor({ network: 'd', bytes: 10 }, held)).toEqual({
    leaving: ['a0'],
    asked: ['a'],
  });
  expect(await roomFor({ network: 'c', bytes: 10 }, held)).toEqual({ leaving: null, asked: [] });
});

test('an item is refused if the network with the most has no removable item', async () => {
  const held = new Map([['a', 95]]);
  expect(await makeRoom({ network: 'b', bytes: 10 }, held, BUDGET, async () => [])).toBeNull();
  expect(held).toEqual(new Map([['a', 95]]));
});

test('an item above the total is refused, even if nothing is stored', async () => {
  const wide = { total: 100, ofOneNetwork: 200 };
  expect(await makeRoom({ network: 'a', bytes: 101 }, new Map(), wide, async () => [])).toBeNull();
});

import type { WaitingBudget } from './store.ts';

/** What somebody's request takes of the budget. */
export interface Holding {
  readonly key: string;
  readonly network: string;
  readonly bytes: number;
}

/**
 * Which of what is held, oldest first, has to go so that there is room for one more: the oldest of the network that holds
 * most, as long as it holds more than the newcomer's then would. So no network takes another's share, however much it sends.
 * Null when there is no room.
 */
export function roomFor(
  newcomer: Omit<Holding, 'key'>,
  held: readonly Holding[],
  budget: WaitingBudget,
): readonly string[] | null {
  const shares = new Map<string, Holding[]>();
  for (const holding of held) {
    const share = shares.get(holding.network) ?? [];
    share.push(holding);
    shares.set(holding.network, share);
  }
  const own = bytesOf(shares.get(newcomer.network) ?? []) + newcomer.bytes;
  if (own > budget.ofOneNetwork) return null;
  const leaving: string[] = [];
  for (let room = budget.total - bytesOf(held) - newcomer.bytes; room < 0;) {
    const largest = [...shares.values()].toSorted((one, other) => bytesOf(other) - bytesOf(one))[0] ?? [];
    if (bytesOf(largest) <= own) return null;
    const oldest = largest.shift();
    if (oldest === undefined) return null;
    leaving.push(oldest.key);
    room += oldest.bytes;
  }
  return leaving;
}

function bytesOf(share: readonly Holding[]): number {
  return share.reduce((sum, { bytes }) => sum + bytes, 0);
}

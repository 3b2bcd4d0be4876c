import type { WaitingBudget } from './store.ts';

/** What one waiting request takes of the budget. */
export interface Holding {
  readonly key: string;
  readonly network: string;
  readonly bytes: number;
}

/**
 * Makes room for one more: returns the keys that have to go, null when there is no room. `held` is sorted, oldest first. The
 * oldest of the network that holds most goes, as long as that network holds more than the newcomer's then would: so no
 * network takes another's share, however much it sends.
 */
export function makeRoom(
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
  const own = sumBytes(shares.get(newcomer.network) ?? []) + newcomer.bytes;
  if (own > budget.ofOneNetwork) return null;
  const leaving: string[] = [];
  for (let room = budget.total - sumBytes(held) - newcomer.bytes; room < 0;) {
    const largest = [...shares.values()].toSorted((one, other) => sumBytes(other) - sumBytes(one))[0] ?? [];
    if (sumBytes(largest) <= own) return null;
    const oldest = largest.shift();
    if (oldest === undefined) return null;
    leaving.push(oldest.key);
    room += oldest.bytes;
  }
  return leaving;
}

function sumBytes(share: readonly Holding[]): number {
  return share.reduce((sum, { bytes }) => sum + bytes, 0);
}

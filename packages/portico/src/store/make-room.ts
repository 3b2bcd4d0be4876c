import type { WaitingBudget } from './requests.ts';

export interface Holding {
  readonly key: string;
  readonly bytes: number;
}

/**
 * Makes room for a new request. Returns the keys of the requests to remove, or null if the new one
 * must be refused.
 *
 * Each removed request is the oldest one of the network that uses the most bytes. This network must
 * use more bytes than the new request's network would use afterwards. So no network can take
 * another one's share.
 *
 * `held` is the number of bytes that each network uses. `oldestOf` returns enough of a network's
 * oldest requests to make room.
 */
export async function makeRoom(
  newcomer: { readonly network: string; readonly bytes: number },
  held: ReadonlyMap<string, number>,
  budget: WaitingBudget,
  oldestOf: (network: string) => Promise<readonly Holding[]>,
): Promise<readonly string[] | null> {
  const shares = new Map(held);
  const own = (shares.get(newcomer.network) ?? 0) + newcomer.bytes;
  if (own > budget.ofOneNetwork) return null;
  const leaving: string[] = [];
  const queues = new Map<string, Holding[]>();
  for (let room = budget.total - sum(shares.values()) - newcomer.bytes; room < 0;) {
    const [network, bytes] = largest(shares);
    if (bytes <= own) return null;
    const queue = queues.get(network) ?? [...(await oldestOf(network))];
    queues.set(network, queue);
    const oldest = queue.shift();
    if (oldest === undefined) return null;
    leaving.push(oldest.key);
    shares.set(network, bytes - oldest.bytes);
    room += oldest.bytes;
  }
  return leaving;
}

function largest(shares: ReadonlyMap<string, number>): readonly [network: string, bytes: number] {
  let found: readonly [string, number] = ['', 0];
  for (const share of shares) if (share[1] > found[1]) found = share;
  return found;
}

function sum(shares: Iterable<number>): number {
  let total = 0;
  for (const bytes of shares) total += bytes;
  return total;
}

import { RecentMap } from '../http/recent-map.ts';
import { TooManyRegistrationsError } from '../errors.ts';
import type { RegistrationLimits } from '../store/client.ts';

/** How many networks are remembered; the one that began longest ago is forgotten first. */
const MOST_NETWORKS = 10_000;

/**
 * Counts what clients of one network replace, as many as it may register. By this process alone: a replacement leaves nothing behind that
 * would be more than there was.
 */
export function createReplacing(
  { ofOneNetwork, period }: RegistrationLimits,
  clock: () => number,
): (network: string) => void {
  const begun = new RecentMap<string, { count: number; readonly until: number }>(MOST_NETWORKS);
  return (network) => {
    const now = clock();
    const known = begun.get(network);
    // What ends later than it can was written before the clock was set back.
    if (known !== undefined && known.until > now && known.until <= now + period) {
      if (known.count >= ofOneNetwork) throw new TooManyRegistrationsError('network', known.until - now);
      known.count += 1;
      return;
    }
    begun.put(network, { count: 1, until: now + period });
  };
}

import { RecentMap } from '../http/recent-map.ts';
import { TooManyRegistrationsError } from '../errors.ts';
import type { RegistrationLimits } from '../store/client.ts';

/** How many networks are remembered; the one that began longest ago is forgotten first. */
const MOST_NETWORKS = 10_000;

/**
 * Limits replacements from one network to as many as it may register. Counted in this process only,
 * because a replacement adds nothing to the store.
 */
export function createReplacing(
  { ofOneNetwork, period }: RegistrationLimits,
  clock: () => number,
): (network: string) => void {
  const begun = new RecentMap<string, { count: number; readonly until: number }>(MOST_NETWORKS);
  return (network) => {
    const now = clock();
    const known = begun.get(network);
    // An end that is too far ahead was written before the clock was set back.
    if (known !== undefined && known.until > now && known.until <= now + period) {
      if (known.count >= ofOneNetwork) throw new TooManyRegistrationsError('network', known.until - now);
      known.count += 1;
      return;
    }
    begun.put(network, { count: 1, until: now + period });
  };
}

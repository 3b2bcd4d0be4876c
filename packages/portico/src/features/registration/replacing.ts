import { RecentMap } from '../../http/recent-map.ts';
import { TooManyRegistrationsError } from '../../errors.ts';
import type { RegistrationLimits } from './records.ts';

/**
 * The maximum number of networks to remember. Above it, the server forgets the network whose period
 * began first.
 */
const MOST_NETWORKS = 10_000;

/**
 * Limits how often clients from one network can replace their metadata. The limit is the same as
 * for registrations. Each process counts separately, which is enough because a replacement adds no
 * row to the store.
 */
export class Replacing {
  readonly #limits: RegistrationLimits;
  readonly #clock: () => number;
  readonly #begun = new RecentMap<string, { count: number; readonly until: number }>(MOST_NETWORKS);

  constructor(limits: RegistrationLimits, clock: () => number) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Counts one replacement. Throws a TooManyRegistrationsError when the limit is reached. */
  count(network: string): void {
    const { ofOneNetwork, period } = this.#limits;
    const now = this.#clock();
    const known = this.#begun.get(network);
    // If `known.until` is more than one period ahead, the clock was set back, so start a new
    // period.
    if (known !== undefined && known.until > now && known.until <= now + period) {
      if (known.count >= ofOneNetwork)
        throw new TooManyRegistrationsError('network', known.until - now);
      known.count += 1;
      return;
    }
    this.#begun.put(network, { count: 1, until: now + period });
  }
}

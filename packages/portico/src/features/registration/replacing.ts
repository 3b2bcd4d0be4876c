import { RecentMap } from '../../http/recent-map.ts';
import { TooManyRegistrationsError } from '../../errors.ts';
import type { RegistrationLimits } from './records.ts';

/** The maximum number of networks. Above it, the network whose period began first is forgotten. */
const MOST_NETWORKS = 10_000;

/**
 * Limits how often clients from one network can replace their metadata, as for registrations. Each
 * process counts separately. This is enough, because a replacement adds no row.
 */
export class Replacing {
  readonly #limits: RegistrationLimits;
  readonly #clock: () => number;
  readonly #begun = new RecentMap<string, { count: number; readonly until: number }>(MOST_NETWORKS);

  constructor(limits: RegistrationLimits, clock: () => number) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Counts one replacement. Throws a TooManyRegistrationsError at the limit. */
  count(network: string): void {
    const { ofOneNetwork, period } = this.#limits;
    const now = this.#clock();
    const known = this.#begun.get(network);
    // A time more than one period ahead means that the clock was set back. Start a new period.
    if (known !== undefined && known.until > now && known.until <= now + period) {
      if (known.count >= ofOneNetwork)
        throw new TooManyRegistrationsError('network', known.until - now);
      known.count += 1;
      return;
    }
    this.#begun.put(network, { count: 1, until: now + period });
  }
}

import type { Audit, AuditedSignIn } from '../../auditing/audit.ts';
import { ReplayEventLimit } from '../../auditing/replay-event-limit.ts';
import { findNetwork } from '../../http/addresses.ts';

/** The events that the kit emits about failed sign-ins. */
export const SIGN_INS = ['sign_in_failed', 'sign_in_slowed'] as const;

/**
 * The maximum number of events of one type per minute in one process. Each account is also limited
 * to five events per type and minute. If a sign-in names no account, this second limit applies to
 * the network that the sign-in came from.
 */
const MOST = 300;

/** Records the kit's events about failed sign-ins as audit events. */
export class SignIns {
  readonly #record: Audit;
  readonly #ofType: ReplayEventLimit;
  readonly #ofPerson: ReplayEventLimit;

  /** `clock` returns the current time in milliseconds since 1970. */
  constructor(record: Audit, clock: () => number) {
    this.#record = record;
    this.#ofType = new ReplayEventLimit(clock, MOST);
    this.#ofPerson = new ReplayEventLimit(clock);
  }

  async failed(
    type: (typeof SIGN_INS)[number],
    {
      person,
      address,
      requestId = null,
    }: Omit<AuditedSignIn, 'requestId'> & Partial<AuditedSignIn>,
  ): Promise<void> {
    const whose = person === null ? [findNetwork(address)] : [person.provider, person.id];
    if (this.#ofPerson.admits(JSON.stringify([type, ...whose])) && this.#ofType.admits(type))
      await this.#record({ type, person, address, requestId });
  }
}

import type { Audit, AuditedSignIn } from '../../auditing/audit.ts';
import { ReplayEventLimit } from '../../auditing/replay-event-limit.ts';
import { findNetwork } from '../../http/addresses.ts';

/** The events that the kit emits about failed sign-ins. */
export const SIGN_INS = ['sign_in_failed', 'sign_in_slowed'] as const;

/**
 * The maximum number of events of one type per minute in one process. In addition, each account is
 * limited to five events per type and minute. If a sign-in names no account, its network has this
 * limit.
 */
const MOST = 300;

export class SignIns {
  readonly #record: Audit;
  readonly #ofType: ReplayEventLimit;
  readonly #ofPerson: ReplayEventLimit;

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

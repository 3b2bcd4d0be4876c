import { networkOf } from '../http/addresses.ts';
import { createReplayEventLimit } from './replay-event-limit.ts';
import type { Audit, AuditedSignIn } from './audit.ts';

/** Records sign-ins that failed at the kit, which has emitted its own events already. */
export type SignInAudit = (
  type: 'sign_in_failed' | 'sign_in_slowed',
  about: Omit<AuditedSignIn, 'requestId'> & { readonly requestId?: string | null },
) => Promise<void>;

/** In a minute, by each process: of all, beside five of each account, and of each network among those that name no account. */
const MOST = 300;

export function createSignInAudit({
  record,
  clock,
}: {
  readonly record: Audit;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}): SignInAudit {
  const isRoom = createReplayEventLimit(clock, MOST);
  const isRecorded = createReplayEventLimit(clock);
  return async (type, { person, address, requestId = null }) => {
    const whose = person === null ? [networkOf(address)] : [person.provider, person.id];
    if (isRecorded(JSON.stringify([type, ...whose])) && isRoom(type))
      await record({ type, person, address, requestId });
  };
}

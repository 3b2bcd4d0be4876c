import { networkOf } from '../http/addresses.ts';
import { createReplayEventLimit } from './replay-event-limit.ts';
import type { Audit, AuditedSignIn } from './audit.ts';

/** Records failed sign-ins at the kit, which has already emitted its own events. */
export type SignInAudit = (
  type: 'sign_in_failed' | 'sign_in_slowed',
  about: Omit<AuditedSignIn, 'requestId'> & { readonly requestId?: string | null },
) => Promise<void>;

/**
 * The most events of each type per minute and process. Each account also has a limit of five, and
 * so has each network for sign-ins that name no account.
 */
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

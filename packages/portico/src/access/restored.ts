import { actedBy, type Audit } from '../auditing/audit.ts';
import type { Store } from '../store/store.ts';
import { BATCH, inBatches, type Lasting } from '../store/batches.ts';

/** What has ended after a restored backup. */
export interface EndedAccess {
  /** How many authorizations this call has ended, each with its code, its refresh token and its access tokens. */
  readonly authorizations: number;
  /** How many access tokens that clients had for themselves (client credentials). */
  readonly clientTokens: number;
  /** How many requests waited for a person's answer. */
  readonly requests: number;
  /** How many initial access tokens, with which clients register themselves. */
  readonly initialAccessTokens: number;
}

export interface EndingOptions {
  readonly store: Store;
  readonly audit: Audit;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Before every key. */
const FIRST = '';

/** A batch of what goes by keys, from the one after the last. */
type Step = (after: string) => Promise<{ readonly ended: number; readonly last: string | null }>;

/**
 * Ends all that was issued, and all that waits to be. Which of it was revoked, or used, since a backup was made is nowhere in that backup, so
 * nothing is spared. What was there when this began has ended when it resolves, whatever the clocks say: the keys tell.
 */
export async function endAllAccess(
  { store, audit, clock }: EndingOptions,
  { report, ...acting }: Lasting = {},
): Promise<EndedAccess> {
  // What waits for an answer first: what is allowed meanwhile is an authorization by then.
  const requests = await inSteps((after) => store.consentRequests.endRequests(after, BATCH));
  const { family, accessToken } = await store.everythingIssued.newestIds();
  const authorizations =
    family === null
      ? 0
      : await inSteps(
          (after) => store.everythingIssued.revokeFamilies(after, family, clock(), BATCH),
          report,
        );
  const clientTokens =
    accessToken === null
      ? 0
      : await inSteps((after) => store.everythingIssued.removeClientTokens(after, accessToken, BATCH));
  let initialAccessTokens = 0;
  for (const { id } of await store.initialAccessTokens.listInitialAccessTokens())
    if (await store.initialAccessTokens.deleteInitialAccessToken(id)) initialAccessTokens += 1;
  const ended = { authorizations, clientTokens, requests, initialAccessTokens };
  await audit({ type: 'access_ended', ...ended, ...actedBy(acting) });
  return ended;
}

function inSteps(step: Step, report?: (count: number) => void): Promise<number> {
  let after = FIRST;
  return inBatches(async () => {
    const { ended, last } = await step(after);
    after = last ?? after;
    return { count: ended, more: last !== null };
  }, report);
}

import { actedBy } from '../auditing/audit.ts';
import type { Server } from '../server.ts';
import { BATCH, inBatches, type Lasting } from '../store/batches.ts';

/** What has ended after a backup was restored. */
export interface EndedAccess {
  /**
   * How many authorizations this call has ended, each with its code, its refresh token and its
   * access tokens.
   */
  readonly authorizations: number;
  /** How many access tokens of clients themselves (client credentials). */
  readonly clientTokens: number;
  /** How many requests were waiting for a person's answer. */
  readonly requests: number;
  /** How many initial access tokens, with which clients register themselves. */
  readonly initialAccessTokens: number;
}

/** Sorts before every key. */
const FIRST = '';

/** Handles a batch in the order of the keys, after the last one. */
type Step = (after: string) => Promise<{ readonly ended: number; readonly last: string | null }>;

/**
 * Ends everything that was issued, and everything that waits to be. A backup does not know what was
 * revoked or used after it was made, so nothing is spared. Everything that existed when this began
 * has ended when it resolves. It goes by keys and not by clocks.
 */
export async function endAllAccess(
  { store, audit, clock }: Server,
  { report, ...acting }: Lasting = {},
): Promise<EndedAccess> {
  // End waiting requests first. Anything allowed meanwhile is an authorization by then.
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

import { actedBy } from '../auditing/audit.ts';
import type { Server } from '../server.ts';
import { BATCH, inSteps, type Lasting } from '../store/batches.ts';

/** What `Access.endAll` ended. */
export interface EndedAccess {
  /**
   * How many authorizations this call ended, with all of their codes, refresh tokens and access
   * tokens.
   */
  readonly authorizations: number;
  /**
   * How many access tokens this call ended that clients had requested for themselves (client
   * credentials).
   */
  readonly clientTokens: number;
  /** How many consent requests this call ended. A user had seen them but not answered. */
  readonly requests: number;
  /**
   * How many initial access tokens this call ended. Clients use these tokens to register
   * themselves.
   */
  readonly initialAccessTokens: number;
}

/** Ends the waiting requests in the tables of one feature. */
export type EndsRequests = () => Promise<void>;

/**
 * Ends all codes, tokens and authorizations, and all waiting requests. `ending` ends the requests
 * in the tables of features.
 *
 * Call this function after you restore a backup. A backup does not show which tokens were revoked
 * or used later. When the promise resolves, nothing that existed before the call is valid. The
 * function compares ids and does not depend on clocks.
 */
export async function endAllAccess(
  server: Server,
  ending: readonly EndsRequests[],
  { report, ...acting }: Lasting = {},
): Promise<EndedAccess> {
  const { store, audit, clock } = server;
  // Keep this order. If a user continues a request in the meantime, a later step ends it.
  await inSteps((after) => store.waitingRequests.endWaitingRequests(after, BATCH));
  for (const end of ending) await end();
  const requests = await inSteps((after) => store.consentRequests.endRequests(after, BATCH));
  const { family, accessToken } = await store.everythingIssued.newestIds();
  const ended =
    family === null
      ? 0
      : await inSteps(
          (after) => store.everythingIssued.revokeFamilies(after, family, clock(), BATCH),
          report,
        );
  const clientTokens =
    accessToken === null
      ? 0
      : await inSteps((after) =>
          store.everythingIssued.removeClientTokens(after, accessToken, BATCH),
        );
  let initialAccessTokens = 0;
  for (const { id } of await store.initialAccessTokens.listInitialAccessTokens())
    if (await store.initialAccessTokens.deleteInitialAccessToken(id)) initialAccessTokens += 1;
  const authorizations = ended + (family === null ? 0 : await endBegun(server, family));
  const all = { authorizations, clientTokens, requests, initialAccessTokens };
  await audit({ type: 'access_ended', ...all, ...actedBy(acting) });
  return all;
}

/**
 * Ends authorizations that started from an earlier one, without the consent page. The id of the
 * earlier one is at most `newest`. Others can start from them in the meantime. So the function
 * searches again until it finds no active authorization.
 */
async function endBegun({ store, clock }: Server, newest: string): Promise<number> {
  const { everythingIssued } = store;
  let total = 0;
  for (;;) {
    let isAnyAlive = false;
    total += await inSteps(async (after) => {
      const batch = await everythingIssued.revokeGoingBack(after, newest, clock(), BATCH);
      isAnyAlive ||= batch.living > 0;
      return batch;
    });
    if (!isAnyAlive) return total;
  }
}

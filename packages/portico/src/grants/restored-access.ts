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

/** Ends all requests that wait for a user's answer in the tables of one feature. */
export type EndsRequests = () => Promise<void>;

/**
 * Ends all codes, tokens and authorizations, and all requests that wait for a user's answer.
 * `ending` ends such requests in the tables of features.
 *
 * Call this function after you restore a backup, because the backup does not show which tokens were
 * revoked or used later. When the promise resolves, nothing that existed when the call began is
 * valid. The function compares ids, so it does not depend on clocks.
 */
export async function endAllAccess(
  server: Server,
  ending: readonly EndsRequests[],
  { report, ...acting }: Lasting = {},
): Promise<EndedAccess> {
  const { store, audit, clock } = server;
  // First end requests that wait for a sign-in, then requests that wait for consent, then
  // authorizations. If a user continues a request in the meantime, a later step ends it.
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
 * Ends authorizations that started without the consent page because of an earlier authorization.
 * The earlier one has an id of at most `newest`. New authorizations can start from these at the
 * same time, so the function searches again until it finds no active authorization.
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

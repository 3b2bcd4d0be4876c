import { findNetwork } from '../../http/addresses.ts';
import { invalidClient } from '../../clients/credentials.ts';
import type { FindClient } from '../../clients/clients.ts';
import { AuthorizationPageError, NotNowError } from '../../errors.ts';
import type { Parts } from '../../feature.ts';
import { callerAddress } from '../../host/host.ts';
import type { Server } from '../../server.ts';
import { askedScopes } from '../../authorization/request.ts';

/**
 * Returns a function that finds the client of a pushed request (RFC 9126). To check the request and
 * the client's key, it fetches the client's document unless the stored copy is fresh. The low
 * limits for unverified clients apply to these fetches (decision 44).
 */
export function pushingClients({ host }: Server, { clients, clientSource }: Parts): FindClient {
  return async (clientId, request, form) => {
    if (clientSource?.names(clientId) !== true) return clients.find(clientId);
    const network = findNetwork(callerAddress(host, request)) ?? '';
    try {
      clientSource.require(clientId);
      return await clientSource.find(clientId, { network }, askedScopes(form));
    } catch (error) {
      if (!(error instanceof AuthorizationPageError)) throw error;
      const { detail, retryAfter } = error;
      if (retryAfter === null) throw invalidClient(detail ?? error.message);
      throw new NotNowError('The document of the client cannot be fetched now; try again later.', {
        tooMuch: false,
        detail: detail ?? error.message,
        retryAfter,
      });
    }
  };
}

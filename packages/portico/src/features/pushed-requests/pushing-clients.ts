import { networkOf } from '../../http/addresses.ts';
import type { ClientSource } from '../../clients/client-source.ts';
import { invalidClient } from '../../clients/credentials.ts';
import type { Clients, FindClient } from '../../clients/clients.ts';
import { AuthorizationPageError, NotNowError } from '../../errors.ts';
import { callerAddress, type CompleteHost } from '../../host.ts';
import { askedScopes } from '../../authorization/request.ts';

export interface PushingClientsOptions {
  readonly clients: Pick<Clients, 'find'>;
  readonly clientSource: Pick<ClientSource, 'names' | 'require' | 'find'> | null;
  readonly host: Pick<CompleteHost, 'clientAddress'>;
}

/**
 * Finds a client that pushes a request (RFC 9126). A document is fetched for this, because neither
 * the request nor its key can be checked without it, within the low limits for strangers (decision
 * 44).
 */
export function createPushingClients({ clients, clientSource, host }: PushingClientsOptions): FindClient {
  return async (clientId, request, form) => {
    if (clientSource?.names(clientId) !== true) return clients.find(clientId);
    const network = networkOf(callerAddress(host, request)) ?? '';
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

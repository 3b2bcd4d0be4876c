import { networkOf } from '../../http/addresses.ts';
import type { ClientDocuments } from '../../client-documents/client-documents.ts';
import { invalidClient } from '../../clients/credentials.ts';
import type { Clients, FindClient } from '../../clients/clients.ts';
import { AuthorizationPageError, NotNowError } from '../../errors.ts';
import { callerAddress, type CompleteHost } from '../../host.ts';
import { askedScopes } from '../../authorization/request.ts';

export interface PushingClientsOptions {
  readonly clients: Pick<Clients, 'find'>;
  readonly documents: Pick<ClientDocuments, 'names' | 'require' | 'find'>;
  readonly host: Pick<CompleteHost, 'clientAddress'>;
}

/**
 * Finds a client that pushes a request (RFC 9126). A document is fetched for this, because neither
 * the request nor its key can be checked without it, within the low limits for strangers (decision
 * 44).
 */
export function createPushingClients({ clients, documents, host }: PushingClientsOptions): FindClient {
  return async (clientId, request, form) => {
    if (!documents.names(clientId)) return clients.find(clientId);
    const network = networkOf(callerAddress(host, request)) ?? '';
    try {
      documents.require(clientId);
      return await documents.find(clientId, { network }, askedScopes(form));
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

import { findNetwork } from '../../http/addresses.ts';
import { keyedHash, randomToken, tokenHash } from '../../crypto.ts';
import { NotNowError } from '../../errors.ts';
import { callerAddress } from '../../host/host.ts';
import type { Parameters } from '../../parameters.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { notUsable, type DirectRequests } from '../../authorization/direct-requests.ts';
import {
  ROW_BYTES,
  WAITING_BUDGET,
  type SentParameters,
} from '../../authorization/waiting-requests.ts';

export interface PushedRequest {
  readonly requestUri: string;
  /** The lifetime of the `request_uri`, in seconds. */
  readonly expiresIn: number;
}

const PREFIX = 'urn:ietf:params:oauth:request_uri:';
const SECRET = /^[\w-]{43}$/;
/**
 * The lifetime of a `request_uri`, in seconds. Clients redirect the browser immediately, so a short
 * lifetime is enough.
 */
const LIFETIME = 60;

/**
 * Stores pushed authorization requests (RFC 9126) until a browser sends their `request_uri`
 * (decision 44).
 *
 * The id of a request is derived from the `request_uri` and the client. It identifies the pushed
 * request, the browser's cookie during sign-in, and the consent request. So only the first user who
 * opens the `request_uri` can be asked for consent.
 */
export class PushedRequests implements DirectRequests {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Stores a pushed request and returns its `request_uri`. Throws a NotNowError if the limit is
   * reached.
   */
  async keep(request: Request, client: Client, sent: SentParameters): Promise<PushedRequest> {
    const { store, host, pruning, clock } = this.#server;
    const secret = randomToken();
    const parameters = JSON.stringify(sent);
    const now = clock();
    const kept = await store.waitingRequests.keepWaitingRequest(
      {
        secretHash: tokenHash(deriveRequestId(secret, client.id)),
        network: findNetwork(callerAddress(host, request)) ?? '',
        parameters,
        bytes: Buffer.byteLength(parameters) + ROW_BYTES,
        expiresAt: now + LIFETIME * 1000,
      },
      isOpenToAnyone(client) ? WAITING_BUDGET : null,
      now,
    );
    if (!kept) throw noRoom();
    await pruning.tick();
    return { requestUri: PREFIX + secret, expiresIn: LIFETIME };
  }

  idOf(parameters: Parameters): string | null {
    const [requestUri = '', ...others] = parameters
      .all('request_uri')
      .filter((value) => value !== '');
    if (!requestUri.startsWith(PREFIX)) return null;
    if (others.length > 0 || parameters.has('request') || parameters.isRepeated('client_id')) {
      throw notUsable(
        'the authorization request has a second request_uri, a request object or a second ' +
          'client_id',
      );
    }
    const clientId = parameters.get('client_id') ?? '';
    const secret = requestUri.slice(PREFIX.length);
    if (!SECRET.test(secret)) throw notUsable('it is not a request_uri of this server');
    return deriveRequestId(secret, clientId);
  }

  async find(requestId: string): Promise<SentParameters | null> {
    const { store, clock } = this.#server;
    const parameters = await store.waitingRequests.findWaitingRequest(
      tokenHash(requestId),
      clock(),
    );
    return parameters === null ? null : (JSON.parse(parameters) as SentParameters);
  }

  end(requestId: string): Promise<void> {
    return this.#server.store.waitingRequests.endWaitingRequest(tokenHash(requestId));
  }
}

/** The id depends on the client, so another client cannot use the same `request_uri`. */
function deriveRequestId(secret: string, clientId: string): string {
  return keyedHash(secret, 'a pushed request of', clientId);
}

/**
 * Returns true if the limit for unverified clients applies. It does not apply if an operator
 * registered the client and the client has authenticated.
 */
function isOpenToAnyone({ public: isPublic, registeredBy }: Client): boolean {
  return isPublic || registeredBy !== 'operator';
}

function noRoom(): NotNowError {
  return new NotNowError('Too many pushed requests are waiting; try again later.', {
    tooMuch: true,
    detail: 'too many pushed requests of public or unverified clients are waiting',
    retryAfter: LIFETIME,
  });
}

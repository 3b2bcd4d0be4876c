import { networkOf } from '../../http/addresses.ts';
import { onBehalfOf } from '../../http/caller.ts';
import type { FailedAttempts } from '../../http/failed-attempts.ts';
import type { Audit } from '../audit.ts';
import { tokenHash } from '../crypto.ts';
import { TooManyFailuresError } from '../errors.ts';
import { callerAddress, type CompleteHost } from '../host.ts';
import type { Parameters } from '../parameters.ts';
import { quotedClientId } from '../quoting.ts';
import { noteClient } from '../refusals.ts';
import type { Client } from '../store/store.ts';
import type { Clients } from './clients.ts';
import { invalidClient, readCredentials, type SecretCredentials } from './credentials.ts';
import type { ClientSecrets } from './secrets.ts';

/**
 * Returns the client that sent this request: authenticated by its secret when it is confidential, identified by its id when
 * it is public (RFC 6749 sections 2.3 and 3.2.1). Throws `invalid_client`, `invalid_request` for credentials sent twice,
 * and a TooManyFailuresError after many failures, except for a secret that was right before.
 */
export type AuthenticateClient = (request: Request, form: Parameters) => Promise<Client>;

export interface ClientAuthenticationOptions {
  readonly clients: Pick<Clients, 'find'>;
  readonly secrets: ClientSecrets;
  readonly failedAttempts: FailedAttempts;
  readonly host: Pick<CompleteHost, 'clientAddress'>;
  readonly audit: Audit;
  readonly clock: () => number;
}

/** Failures of one client from one network, and of all clients from one network, before anything slows down. */
const FREE_FAILURES = { client: 5, address: 50 } as const;

export function createClientAuthentication(options: ClientAuthenticationOptions): AuthenticateClient {
  const { clients, secrets, failedAttempts, host, audit, clock } = options;

  /** Verifies the secret with the slow hash, unless so many attempts have failed that this one has to wait. */
  async function proveSecret(
    request: Request,
    { clientId, secret }: SecretCredentials,
    found: Client | null,
    active: Client | null,
  ): Promise<Client> {
    const address = callerAddress(host, request);
    const network = networkOf(address);
    // An id that no client has is counted by its hash: it may be long, and there may be many.
    const keys = [
      { key: JSON.stringify([found?.id ?? tokenHash(clientId), network]), free: FREE_FAILURES.client },
      { key: JSON.stringify([network]), free: FREE_FAILURES.address },
    ];
    const verify = () => secrets.verify(active, secret);
    const attempt = await failedAttempts.attempt(keys, async () =>
      (await onBehalfOf(network, verify)) ? active : null,
    );
    if (attempt.outcome === 'right') return attempt.value;
    const about = { clientId: found?.id ?? null, address };
    if (attempt.outcome === 'slowed') {
      if (attempt.first) await audit({ type: 'client_authentication_slowed', ...about });
      throw new TooManyFailuresError(attempt.wait);
    }
    await audit({ type: 'client_authentication_failed', ...about });
    throw invalidClient(active === null ? notActive(clientId, found) : wrongSecret(active, clock()));
  }

  return async (request, form) => {
    const credentials = readCredentials(request, form);
    const { clientId } = credentials;
    const found = await clients.find(clientId);
    if (found !== null) noteClient(request, found.id);
    const active = found?.revokedAt === null ? found : null;
    if (credentials.method === 'none') {
      if (active === null) throw invalidClient(notActive(clientId, found));
      if (!active.public) throw invalidClient('no secret came with the id of a confidential client');
      return active;
    }
    if (active !== null && (await secrets.isKnown(active, credentials.secret))) return active;
    return proveSecret(request, credentials, found, active);
  };
}

function notActive(sent: string, found: Client | null): string {
  return found === null ? `no client has the id ${quotedClientId(sent)}` : 'the client was revoked';
}

function wrongSecret({ public: isPublic, previousSecretExpiresAt }: Client, now: number): string {
  if (isPublic) return 'a secret came with the id of a public client, which has none';
  const isRotating = previousSecretExpiresAt !== null && previousSecretExpiresAt > now;
  return isRotating ? 'the secret is neither the current nor the previous one' : 'the secret is wrong';
}

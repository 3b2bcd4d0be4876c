import { networkOf } from '../http/addresses.ts';
import { onBehalfOf } from '../http/caller.ts';
import type { FailedAttempts } from '../http/failed-attempts.ts';
import type { Audit } from '../auditing/audit.ts';
import { tokenHash } from '../crypto.ts';
import { TooManyFailuresError } from '../errors.ts';
import { callerAddress, type CompleteHost } from '../host.ts';
import { JwsError, type Jws } from '../jws/compact.ts';
import type { Parameters } from '../parameters.ts';
import { quotedClientId } from '../quoting.ts';
import { noteClient } from '../refusals.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { Client } from '../store/client.ts';
import type { FindClient } from './clients.ts';
import type { VerifyAssertion } from './client-assertions.ts';
import {
  invalidClient,
  PRIVATE_KEY_JWT,
  readCredentials,
  type AssertionCredentials,
  type AssertionReader,
  type SecretCredentials,
} from './credentials.ts';
import { isBlank, type ClientSecrets } from './secrets.ts';

/**
 * Returns the client that sent this request: authenticated by its secret when it is confidential,
 * by an assertion when it has keys, identified by its id when it is public (RFC 6749 sections 2.3
 * and 3.2.1). Throws `invalid_client`, `invalid_request` for credentials sent twice, and a
 * TooManyFailuresError after many failures, except for a secret that was right before, and for an
 * assertion that is right.
 */
export type AuthenticateClient = (request: Request, form: Parameters) => Promise<Client>;

export interface ClientAuthenticationOptions {
  readonly findClient: FindClient;
  readonly secrets: ClientSecrets;
  /** Null if clients have no keys here. */
  readonly assertions: { readonly reader: AssertionReader; readonly verify: VerifyAssertion } | null;
  readonly profiles: Profiles;
  readonly failedAttempts: FailedAttempts;
  /**
   * Failed assertions. They are counted separately, so that they neither hide nor slow down a guess
   * at a secret.
   */
  readonly failedAssertions: FailedAttempts;
  readonly host: Pick<CompleteHost, 'clientAddress'>;
  readonly audit: Audit;
  readonly clock: () => number;
}

/**
 * Failures of one client from one network, and of all clients from one network, before anything
 * slows down. A secret may be guessed. A signature cannot: a clock that is wrong or a key that was
 * not published yet fails for as long as it is not mended.
 */
const FREE_FAILURES = {
  secrets: { client: 5, address: 50 },
  assertions: { client: 60, address: 600 },
} as const;

/** Who failed to authenticate as which client, and how. */
interface Judged {
  readonly clientId: string;
  readonly found: Client | null;
  readonly kind: keyof typeof FREE_FAILURES;
}

export function createClientAuthentication(options: ClientAuthenticationOptions): AuthenticateClient {
  const { findClient, secrets, assertions, profiles, host, audit, clock } = options;

  /**
   * Verifies the secret with the slow hash, unless so many attempts have failed that this one has
   * to wait.
   */
  function proveSecret(
    request: Request,
    { clientId, secret }: SecretCredentials,
    found: Client | null,
    active: Client | null,
  ): Promise<Client> {
    return judge(
      request,
      { clientId, found, kind: 'secrets' },
      {
        verify: async () => ((await secrets.verify(active, secret, clientId)) ? active : null),
        reason: () => (active === null ? notActive(clientId, found) : wrongSecret(active, secret, clock())),
      },
    );
  }

  /**
   * Verifying costs little, and a signature cannot be guessed. So only failed assertions are
   * counted, and a stranger's failures do not slow down the client.
   */
  async function proveAssertion(
    request: Request,
    { clientId, assertion }: AssertionCredentials,
    found: Client | null,
    active: Client | null,
  ): Promise<Client> {
    const problem = await assertionProblem(assertion, clientId, active, () => notActive(clientId, found));
    if (active !== null && problem === null) return active;
    return judge(
      request,
      { clientId, found, kind: 'assertions' },
      {
        verify: async () => null,
        reason: () => `of the assertion: ${problem ?? ''}`,
      },
    );
  }

  async function assertionProblem(
    assertion: Jws | JwsError,
    clientId: string,
    active: Client | null,
    whyNotActive: () => string,
  ): Promise<string | null> {
    if (assertion instanceof JwsError) return assertion.message;
    const keyed = active === null || active.keys === null ? null : { ...active, keys: active.keys };
    try {
      // Do the same work for an unknown client, so that the time tells nothing.
      const profile = active === null ? null : profiles.of(active);
      await assertions?.verify(keyed, clientId, assertion, profile);
      if (keyed !== null && assertions !== null) return null;
    } catch (error) {
      if (!(error instanceof JwsError)) throw error;
      if (keyed !== null) return error.message;
    }
    return active === null ? whyNotActive() : 'the client is not registered for private_key_jwt';
  }

  async function judge(
    request: Request,
    { clientId, found, kind }: Judged,
    { verify, reason }: { readonly verify: () => Promise<Client | null>; readonly reason: () => string },
  ): Promise<Client> {
    const address = callerAddress(host, request);
    const network = networkOf(address);
    // An id that no client has is counted by its hash: it may be long, and there may be many.
    const keys = [
      { key: JSON.stringify([found?.id ?? tokenHash(clientId), network]), free: FREE_FAILURES[kind].client },
      { key: JSON.stringify([network]), free: FREE_FAILURES[kind].address },
    ];
    const failedAttempts = kind === 'secrets' ? options.failedAttempts : options.failedAssertions;
    const attempt = await failedAttempts.attempt(keys, () => onBehalfOf(network, verify));
    if (attempt.outcome === 'right') return attempt.value;
    const about = { clientId: found?.id ?? null, address };
    if (attempt.outcome === 'slowed') {
      if (attempt.first) await audit({ type: 'client_authentication_slowed', ...about });
      throw new TooManyFailuresError(attempt.wait);
    }
    await audit({ type: 'client_authentication_failed', ...about });
    throw invalidClient(reason());
  }

  return async (request, form) => {
    const credentials = readCredentials(request, form, assertions?.reader ?? null);
    const { clientId } = credentials;
    const found = await findClient(clientId, request, form);
    if (found !== null) noteClient(request, found.id);
    const active = found?.revokedAt === null ? found : null;
    const refusal = active === null ? null : profiles.refusal(active);
    if (refusal !== null) throw invalidClient(refusal);
    if (credentials.method === 'none') {
      if (active === null) throw invalidClient(notActive(clientId, found));
      if (!active.public) throw invalidClient(nothingCame(active));
      return active;
    }
    if (credentials.method === PRIVATE_KEY_JWT) return proveAssertion(request, credentials, found, active);
    if ((await secrets.isKnown(active, credentials.secret, clientId)) && active !== null) return active;
    return proveSecret(request, credentials, found, active);
  };
}

function notActive(sent: string, found: Client | null): string {
  return found === null ? `no client has the id ${quotedClientId(sent)}` : 'the client was revoked';
}

function nothingCame({ keys }: Client): string {
  return keys === null
    ? 'no secret came with the id of a confidential client'
    : 'no assertion that is taken came with the id of a client that authenticates by private_key_jwt';
}

function wrongSecret(
  { public: isPublic, keys, previousSecretExpiresAt }: Client,
  secret: string,
  now: number,
): string {
  if (keys !== null) return 'a secret came with the id of a client that authenticates by private_key_jwt';
  if (isPublic) return 'a secret came with the id of a public client, which has none';
  if (isBlank(secret)) return 'the secret is blank, which is never one';
  const isRotating = previousSecretExpiresAt !== null && previousSecretExpiresAt > now;
  return isRotating ? 'the secret is neither the current nor the previous one' : 'the secret is wrong';
}

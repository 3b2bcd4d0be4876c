import { findNetwork } from '../http/addresses.ts';
import { runAsCaller } from '../http/caller.ts';
import { FailedAttempts } from '../http/failed-attempts.ts';
import { tokenHash } from '../crypto.ts';
import { TooManyFailuresError } from '../errors.ts';
import { callerAddress } from '../host/host.ts';
import { JwsError, type Jws } from '../keys/jws/compact.ts';
import type { Parameters } from '../parameters.ts';
import { quotedClientId } from '../quoting.ts';
import { noteClient } from '../refusals.ts';
import type { Server } from '../server.ts';
import type { Client, ClientKeys } from '../store/client.ts';
import type { FindClient } from './clients.ts';
import type { ClientAssertions, VerifyAssertion } from './client-assertions.ts';
import {
  invalidClient,
  PRIVATE_KEY_JWT,
  readCredentials,
  type AssertionCredentials,
  type AssertionReader,
  type SecretCredentials,
} from './credentials.ts';
import { assertionReader } from './reading-assertions.ts';
import { hasExpiredSecret, isBlank, type ClientSecrets } from './secrets.ts';

/**
 * After this many failures, the server slows down further attempts. `client` counts one client from
 * one network. `address` counts all clients from one network.
 *
 * Assertions have higher limits. An attacker cannot guess a signature. A client with a wrong clock
 * or a missing key sends many assertions that fail.
 */
const FREE_FAILURES = {
  secrets: { client: 5, address: 50 },
  assertions: { client: 60, address: 600 },
} as const;

/** An attempt to authenticate. `client` is null if the client is unknown. */
interface Judged {
  readonly clientId: string;
  readonly found: Client | null;
  readonly kind: keyof typeof FREE_FAILURES;
}

/** A method of authentication by assertions, with the verifier for one endpoint. */
interface Way {
  readonly assertions: ClientAssertions;
  readonly verify: VerifyAssertion;
}

/** Authenticates clients, and counts their failed attempts across all endpoints. */
export class ClientProofs {
  readonly assertions: readonly ClientAssertions[];
  readonly #secrets: ClientSecrets;
  readonly #server: Server;
  /** Counts assertions and secrets separately: failed assertions never slow down secrets. */
  readonly #failed: Readonly<Record<Judged['kind'], FailedAttempts>>;

  /** The server tries the methods in `assertions` in this order. */
  constructor(server: Server, secrets: ClientSecrets, assertions: readonly ClientAssertions[]) {
    this.#server = server;
    this.#secrets = secrets;
    this.assertions = assertions;
    const { clock, random } = server;
    this.#failed = {
      secrets: new FailedAttempts(clock, random),
      assertions: new FailedAttempts(clock, random),
    };
  }

  /**
   * Authenticates a client by its secret. Accepts a secret immediately if this process has verified
   * it before. Any other secret needs the slow hash. After too many failures, throws a
   * TooManyFailuresError for most attempts.
   */
  async secret(
    request: Request,
    { clientId, secret }: SecretCredentials,
    found: Client | null,
    active: Client | null,
  ): Promise<Client> {
    // Do not await a boolean. Other requests could run before this one is marked as verifying the
    // secret.
    const known = this.#secrets.isKnown(active, secret, clientId);
    if ((typeof known === 'boolean' ? known : await known) && active !== null) return active;
    return this.#judge(
      request,
      { clientId, found, kind: 'secrets' },
      {
        verify: async () =>
          (await this.#secrets.verify(active, secret, clientId)) ? active : null,
        reason: () =>
          active === null
            ? notActive(clientId, found)
            : wrongSecret(active, secret, this.#server.clock()),
      },
    );
  }

  /**
   * Authenticates a client by an assertion. Never delays a valid assertion, so an attacker's
   * failures do not slow down the client. This is safe: a signature is cheap to verify and cannot
   * be guessed.
   */
  async assertion(
    request: Request,
    credentials: AssertionCredentials,
    found: Client | null,
    active: Client | null,
    ways: readonly Way[],
  ): Promise<Client> {
    const { clientId } = credentials;
    const whyNotActive = () => notActive(clientId, found);
    const problem = await this.#assertionProblem(credentials, active, ways, whyNotActive);
    if (active !== null && problem === null) return active;
    return this.#judge(
      request,
      { clientId, found, kind: 'assertions' },
      {
        verify: async () => null,
        reason: () => `assertion refused: ${problem ?? ''}`,
      },
    );
  }

  async #assertionProblem(
    { type, clientId, assertion }: AssertionCredentials,
    active: Client | null,
    ways: readonly Way[],
    whyNotActive: () => string,
  ): Promise<string | null> {
    if (assertion instanceof JwsError) return assertion.message;
    const way = wayFor(type, assertion, ways);
    const keys = active?.keys ?? null;
    const keyed =
      active === null || keys === null || way?.assertions.isFor(keys) !== true
        ? null
        : { ...active, keys };
    try {
      // Verify assertions of unknown clients too. The response time must not show which clients
      // exist.
      const profile = active === null ? null : this.#server.profiles.of(active);
      await way?.verify(keyed, clientId, assertion, profile);
      if (keyed !== null) return null;
    } catch (error) {
      if (!(error instanceof JwsError)) throw error;
      if (keyed !== null) return error.message;
    }
    if (active === null) return whyNotActive();
    return keys?.workload === undefined
      ? `the client is not registered for ${way?.assertions.called ?? PRIVATE_KEY_JWT}`
      : 'the client is a workload, but the assertion has the iss or client_assertion_type of ' +
          'another issuer';
  }

  async #judge(
    request: Request,
    { clientId, found, kind }: Judged,
    {
      verify,
      reason,
    }: { readonly verify: () => Promise<Client | null>; readonly reason: () => string },
  ): Promise<Client> {
    const { host, audit } = this.#server;
    const address = callerAddress(host, request);
    const network = findNetwork(address);
    // Attackers can send many long ids. Use the hash of an unknown id.
    const keys = [
      {
        key: JSON.stringify([found?.id ?? tokenHash(clientId), network]),
        free: FREE_FAILURES[kind].client,
      },
      { key: JSON.stringify([network]), free: FREE_FAILURES[kind].address },
    ];
    const attempt = await this.#failed[kind].attempt(keys, () => runAsCaller(network, verify));
    if (attempt.outcome === 'right') return attempt.value;
    const about = { clientId: found?.id ?? null, address };
    if (attempt.outcome === 'slowed') {
      if (attempt.first) await audit({ type: 'client_authentication_slowed', ...about });
      throw new TooManyFailuresError(attempt.wait);
    }
    await audit({ type: 'client_authentication_failed', ...about });
    throw invalidClient(reason());
  }
}

export class ClientAuthentication {
  readonly #server: Server;
  readonly #proofs: ClientProofs;
  readonly #findClient: FindClient;
  readonly #ways: readonly Way[];
  readonly #reader: AssertionReader | null;

  /**
   * The audience of an assertion may be the issuer, or the URL of any of the endpoint's `paths`.
   */
  constructor(
    server: Server,
    proofs: ClientProofs,
    findClient: FindClient,
    paths: readonly string[],
  ) {
    this.#server = server;
    this.#proofs = proofs;
    this.#findClient = findClient;
    const endpoints = paths.map((path) => `${server.issuer}${path}`);
    this.#ways = proofs.assertions.map((assertions) => ({
      assertions,
      verify: assertions.verifierAt(endpoints),
    }));
    this.#reader =
      this.#ways.length === 0 ? null : assertionReader(proofs.assertions.map(({ type }) => type));
  }

  /**
   * Authenticates the client that sent this request (RFC 6749 sections 2.3 and 3.2.1).
   *
   * - A confidential client authenticates with its secret.
   * - A client with keys authenticates with an assertion.
   * - A public client is identified by its id.
   *
   * Throws `invalid_client` if authentication fails, or `invalid_request` for two credentials.
   * After many failures, throws a TooManyFailuresError. Valid assertions and known secrets then
   * still succeed.
   */
  async authenticate(request: Request, form: Parameters): Promise<Client> {
    const proofs = this.#proofs;
    const credentials = readCredentials(request, form, this.#reader);
    const { clientId } = credentials;
    const found = await this.#findClient(clientId, request, form);
    if (found !== null) noteClient(request, found.id);
    const active = found?.revokedAt === null ? found : null;
    const refusal = active === null ? null : this.#server.profiles.refusal(active);
    if (refusal !== null) throw invalidClient(refusal);
    if (credentials.method === 'none') {
      if (active === null) throw invalidClient(notActive(clientId, found));
      if (!active.public) throw invalidClient(nothingCame(active));
      return active;
    }
    return credentials.method === 'assertion'
      ? proofs.assertion(request, credentials, found, active, this.#ways)
      : proofs.secret(request, credentials, found, active);
  }
}

/**
 * Returns the method for assertions of this type. If several methods accept the type, returns the
 * one that recognizes the assertion, or else the last one.
 */
function wayFor(type: string, assertion: Jws, ways: readonly Way[]): Way | undefined {
  const ofType = ways.filter(({ assertions }) => assertions.type === type);
  return ofType.find(({ assertions }) => assertions.recognizes(assertion)) ?? ofType.at(-1);
}

function notActive(sent: string, found: Client | null): string {
  return found === null ? `no client has the id ${quotedClientId(sent)}` : 'the client was revoked';
}

function nothingCame({ keys }: Client): string {
  return keys === null
    ? 'the client is confidential, but the request has no secret'
    : `the client authenticates by ${proofOf(keys)}, but the request has no assertion that ` +
        'the server accepts';
}

function proofOf({ workload }: ClientKeys): string {
  return workload === undefined ? PRIVATE_KEY_JWT : 'workload tokens';
}

/** Some libraries send HTTP Basic even for a client without a secret. */
const EMPTY_OF_PUBLIC =
  'the request has an empty secret (HTTP Basic), but the client is public: it must send only its ' +
  'client_id, in the body';

function wrongSecret(client: Client, secret: string, now: number): string {
  const { public: isPublic, keys, previousSecretExpiresAt } = client;
  if (keys !== null)
    return `the request has a secret, but the client authenticates by ${proofOf(keys)}`;
  if (isPublic && secret === '') return EMPTY_OF_PUBLIC;
  if (isPublic) return 'the request has a secret, but the client is public and has none';
  if (isBlank(secret)) return 'the secret is blank';
  if (hasExpiredSecret(client, now)) return 'the secret is wrong, or it has expired';
  const isRotating = previousSecretExpiresAt !== null && previousSecretExpiresAt > now;
  return isRotating
    ? 'the secret is neither the current nor the previous one'
    : 'the secret is wrong';
}

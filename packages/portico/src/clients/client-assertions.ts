import type { Jws } from '../keys/jws/compact.ts';
import type { SecurityProfile } from '../profiles.ts';
import type { ClientKeys, RegisteredBy } from '../store/client.ts';

/** A client that authenticates with its own keys or with a workload's token. */
export interface KeyedClient {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly keys: ClientKeys;
}

/** One way to authenticate clients by assertions (RFC 7521 section 4.2). */
export interface ClientAssertions {
  /** Its name in messages, such as `private_key_jwt`. */
  readonly called: string;
  /** The `client_assertion_type` of its assertions. */
  readonly type: string;
  /** Whether clients with these keys authenticate in this way. */
  isFor(keys: ClientKeys): boolean;
  /**
   * Whether this assertion must be verified in this way. It is called before the assertion is
   * verified. The result must not depend on the client, so that the server does the same work for
   * every client.
   */
  recognizes(assertion: Jws): boolean;
  /** Returns a function that verifies assertions at endpoints with these URLs. */
  verifierAt(endpoints: readonly string[]): VerifyAssertion;
}

/** Authenticates clients by assertions that they sign with their own keys. */
export interface OwnAssertions extends ClientAssertions {
  /**
   * Returns the current problems of the client's keys. The list is empty if there are no problems.
   */
  problems(client: KeyedClient): Promise<readonly string[]>;
}

/**
 * Resolves if the assertion identifies this client to this server and is valid now. Otherwise
 * throws a JwsError with the reason, or another error if the keys cannot be read.
 *
 * `client` is null if the client is unknown or does not authenticate in this way. The function then
 * does the same work and always throws. `profile` is the client's profile.
 */
export type VerifyAssertion = (
  client: KeyedClient | null,
  clientId: string,
  assertion: Jws,
  profile: SecurityProfile | null,
) => Promise<void>;

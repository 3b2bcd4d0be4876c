import type { Jws } from '../keys/jws/compact.ts';
import type { SecurityProfile } from '../profiles.ts';
import type { ClientKeys, RegisteredBy } from '../store/client.ts';

/** A client that authenticates with its own keys or with a token from its workload platform. */
export interface KeyedClient {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly keys: ClientKeys;
}

/** One method of client authentication by assertions (RFC 7521 section 4.2). */
export interface ClientAssertions {
  /** The method's name in messages, for example `private_key_jwt`. */
  readonly called: string;
  /** The `client_assertion_type` that this method accepts. */
  readonly type: string;
  /** Whether clients with these keys authenticate with this method. */
  isFor(keys: ClientKeys): boolean;
  /**
   * Whether this method must verify this assertion. Called before the assertion is verified. The
   * result must not depend on the client, because the server must do the same work for every
   * client.
   */
  recognizes(assertion: Jws): boolean;
  /** Returns a function that verifies assertions sent to endpoints with these URLs. */
  verifierAt(endpoints: readonly string[]): VerifyAssertion;
}

/** Authenticates clients by assertions that the clients sign with their own keys. */
export interface OwnAssertions extends ClientAssertions {
  /**
   * Returns the current problems of the client's keys. The list is empty if there are no problems.
   */
  problems(client: KeyedClient): Promise<readonly string[]>;
}

/**
 * Verifies an assertion. Resolves if the assertion identifies this client to this server and is
 * valid now. Otherwise throws a JwsError with the reason, or another error if the keys cannot be
 * read.
 *
 * `client` is null if the client is unknown or does not use this method. The function then does the
 * same work as for a known client and always throws. `profile` is the client's security profile.
 */
export type VerifyAssertion = (
  client: KeyedClient | null,
  clientId: string,
  assertion: Jws,
  profile: SecurityProfile | null,
) => Promise<void>;

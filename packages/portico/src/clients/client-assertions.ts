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
  readonly type: string;
  /** Returns true if clients with these keys authenticate with this method. */
  isFor(keys: ClientKeys): boolean;
  /**
   * Returns true if this method must verify this assertion, which is not yet verified. The result
   * must not depend on the client. The server must do the same work for every client.
   */
  recognizes(assertion: Jws): boolean;
  verifierAt(endpoints: readonly string[]): VerifyAssertion;
}

export interface OwnAssertions extends ClientAssertions {
  /** Returns the current problems of the client's keys. */
  problems(client: KeyedClient): Promise<readonly string[]>;
}

/**
 * Verifies that an assertion identifies this client to this server and is valid now. Otherwise
 * throws a JwsError with the reason, or another error if the keys cannot be read.
 *
 * `client` is null if the client is unknown or does not use this method. The function then does the
 * same work and always throws. `profile` is the client's security profile.
 */
export type VerifyAssertion = (
  client: KeyedClient | null,
  clientId: string,
  assertion: Jws,
  profile: SecurityProfile | null,
) => Promise<void>;

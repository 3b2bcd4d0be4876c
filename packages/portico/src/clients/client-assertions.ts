import type { Jws } from '../keys/jws/compact.ts';
import type { SecurityProfile } from '../profiles.ts';
import type { ClientKeys, RegisteredBy } from '../store/client.ts';
import type { AssertionReader } from './credentials.ts';

/** A client that has keys. */
export interface KeyedClient {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly keys: ClientKeys;
}

/**
 * Authenticates clients that have keys. They sign assertions with their keys (RFC 7521 section
 * 4.2).
 */
export interface ClientAssertions extends AssertionReader {
  /** Returns a function that verifies assertions at endpoints with these URLs. */
  verifierAt(endpoints: readonly string[]): VerifyAssertion;
  /** Returns the current problems of the client's keys. The list is empty if there are none. */
  problems(client: KeyedClient): Promise<readonly string[]>;
}

/**
 * Resolves if this client signed the assertion for this server, the assertion is valid now, and no
 * process has accepted it before. Otherwise throws a JwsError with the reason, or a
 * ClientKeysError.
 *
 * If `client` is null, the client is unknown or has no keys. In that case, the function does the
 * same work and always throws. `profile` is the client's profile.
 */
export type VerifyAssertion = (
  client: KeyedClient | null,
  clientId: string,
  assertion: Jws,
  profile: SecurityProfile | null,
) => Promise<void>;

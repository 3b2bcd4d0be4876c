import type { Jws } from '../jws/compact.ts';
import type { SecurityProfile } from '../profiles.ts';
import type { ClientKeys, RegisteredBy } from '../store/client.ts';
import type { AssertionReader } from './credentials.ts';

/** A client that has keys. */
export interface KeyedClient {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly keys: ClientKeys;
}

/** Authenticates clients with keys by assertions that they sign (RFC 7521 section 4.2). */
export interface ClientAssertions extends AssertionReader {
  /** Verifies assertions at endpoints with these URLs. */
  verifierAt(endpoints: readonly string[]): VerifyAssertion;
  /** Problems of the keys of this client as they are now; empty if there are none. */
  problems(client: KeyedClient): Promise<readonly string[]>;
}

/**
 * Resolves if this client signed the assertion, for this server, now, and this is its first use in
 * all processes. Throws a JwsError that says why not, and a ClientKeysError. For null, which stands
 * for a client of this id that is unknown or has no keys, it does the same work, and always throws.
 * `profile` is the client's profile.
 */
export type VerifyAssertion = (
  client: KeyedClient | null,
  clientId: string,
  assertion: Jws,
  profile: SecurityProfile | null,
) => Promise<void>;

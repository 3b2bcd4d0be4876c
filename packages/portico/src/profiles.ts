import { RegistrationError } from './errors.ts';
import { DEFAULT_ALGORITHM } from './keys/algorithms.ts';
import type { ClientMetadata, Grant, SigningAlgorithm } from './store/client.ts';

/**
 * A security profile: stricter rules for the whole server or for single clients. A feature of the
 * server provides it.
 */
export interface SecurityProfile {
  /** Its name in registrations, in rows of clients and on the console. */
  readonly name: string;
  /** What an operator reads about a client of it: continues a sentence after its name. */
  readonly says: string;
  /** The only algorithms that clients may sign with. */
  readonly algorithms: readonly string[];
  /**
   * The algorithm of ID tokens for clients that ask for none: the first that the server has a key
   * for.
   */
  readonly idTokenAlgorithms: readonly [SigningAlgorithm, ...SigningAlgorithm[]];
  /** How clients may authenticate where they get tokens. */
  readonly authenticationMethods: readonly string[];
  /** The most seconds that a code may live. */
  readonly longestCode: number;
  /** The status of redirects that answer GET. */
  readonly redirectStatus: 302 | 303;
  /** Whether a refresh token stays good when it is used, and is not replaced. */
  readonly refreshTokensStay: boolean;
  /** Whether a code that comes without its verifier is refused as with a wrong one. */
  readonly missingVerifierIsWrong: boolean;
  /** Whether the `aud` of an assertion must be the issuer, as one string. */
  readonly onlyIssuerIsAudience: boolean;
  /** Why a client gets nothing now; null when nothing is against it. */
  clientProblem(client: ClientMetadata): string | null;
  /** The same, with what is checked only when a client is registered. */
  registrationProblem(client: ClientMetadata): string | null;
}

/** What decides which profile a client is held to. */
interface GovernedClient {
  readonly profile: string | null;
  readonly grants: readonly Grant[];
}

/** A profile as a server offers it. */
export interface OfferedProfile extends SecurityProfile {
  /** Whether the whole server is held to it. */
  readonly isServers: boolean;
  /** Keys of the configuration that it needs, and that are off. */
  readonly missing: readonly string[];
}

const UNKNOWN_PROFILE = 'it is of a profile that is not known here';
/**
 * Of clients that are held to a profile that no feature of this server provides: they get nothing.
 */
const UNKNOWN: SecurityProfile = {
  name: '',
  says: '',
  algorithms: [],
  idTokenAlgorithms: [DEFAULT_ALGORITHM],
  authenticationMethods: [],
  longestCode: 0,
  redirectStatus: 303,
  refreshTokensStay: true,
  missingVerifierIsWrong: true,
  onlyIssuerIsAudience: true,
  clientProblem: () => UNKNOWN_PROFILE,
  registrationProblem: () => UNKNOWN_PROFILE,
};

/** Which clients the rules of a profile apply to, and which clients they refuse. */
export class Profiles {
  /** The profile of the whole server, or null. */
  readonly servers: SecurityProfile | null;
  readonly #offered: readonly OfferedProfile[];

  constructor(offered: readonly OfferedProfile[]) {
    this.#offered = offered;
    this.servers = offered.find(({ isServers }) => isServers) ?? null;
  }

  /** The names of all profiles that a client can be held to. */
  get names(): readonly string[] {
    return this.#offered.map(({ name }) => name);
  }

  /** The profile that a client has by itself; null for none. */
  named(name: string | null): SecurityProfile | null {
    return name === null ? null : (this.#offeredAs(name) ?? UNKNOWN);
  }

  /** The profile whose rules apply to this client: its own, or the server's. Null for none. */
  of(client: GovernedClient): SecurityProfile | null {
    return this.named(client.profile) ?? (asksWhatTokensAreGoodFor(client) ? null : this.servers);
  }

  /**
   * Why this client gets nothing now, for the log; null when nothing is against it, as for every
   * client without a profile.
   */
  refusal(client: ClientMetadata): string | null {
    const profile = this.of(client);
    if (profile === null) return null;
    const offered = this.#offeredAs(profile.name);
    if (offered === undefined) return UNKNOWN_PROFILE;
    const { name, missing } = offered;
    if (missing.length > 0) return `it is of the profile ${name}, which needs ${missing.join(', ')}`;
    const problem = profile.clientProblem(client);
    return problem === null ? null : `${problem}, which the profile ${name} does not allow`;
  }

  /** Throws a RegistrationError when a client cannot be registered as it is said to be. */
  requireRegistrable(client: ClientMetadata): void {
    const profile = this.of(client);
    if (profile === null) return;
    const { name } = profile;
    const { missing = [] } = this.#offeredAs(name) ?? {};
    if (missing.length > 0) {
      throw new RegistrationError(
        `The profile ${name} needs features that are switched off: ${missing.join(', ')}`,
      );
    }
    const problem = profile.registrationProblem(client);
    if (problem !== null)
      throw new RegistrationError(`The profile ${name} does not allow this client: ${problem}`);
  }

  #offeredAs(wanted: string): OfferedProfile | undefined {
    return this.#offered.find(({ name }) => name === wanted);
  }
}

/**
 * An API that only uses introspection is not a client of the server's profile: it receives no
 * token, and no data about a person.
 */
function asksWhatTokensAreGoodFor({ grants }: GovernedClient): boolean {
  return grants.join() === 'introspection';
}

import { RegistrationError } from './errors.ts';
import { DEFAULT_ALGORITHM } from './keys/algorithms.ts';
import type { ClientMetadata, Grant, SigningAlgorithm } from './store/client.ts';

/**
 * A security profile: stricter rules for the whole server or for single clients. Features provide
 * profiles.
 */
export interface SecurityProfile {
  /** The profile's name in registrations, in client rows and on the console. */
  readonly name: string;
  /** A description of the profile. The help of a command shows it after the profile's name. */
  readonly says: string;
  /** The algorithms that clients may sign with. */
  readonly algorithms: readonly string[];
  /**
   * The algorithms for ID tokens, in order of preference. If a client's registration names none,
   * Portico uses the first algorithm that the server has a key for.
   */
  readonly idTokenAlgorithms: readonly [SigningAlgorithm, ...SigningAlgorithm[]];
  /** The authentication methods that clients may use to get tokens. */
  readonly authenticationMethods: readonly string[];
  /** The maximum lifetime of an authorization code, in seconds. */
  readonly longestCode: number;
  /** The HTTP status of a redirect that responds to a GET request. */
  readonly redirectStatus: 302 | 303;
  /**
   * Whether a refresh token stays valid after it is used. If false, each use replaces the token.
   */
  readonly refreshTokensStay: boolean;
  /** Whether a missing code verifier is treated like a wrong code verifier. */
  readonly missingVerifierIsWrong: boolean;
  /** Whether the `aud` of a client's assertion must be the issuer, as a single string. */
  readonly onlyIssuerIsAudience: boolean;
  /**
   * How far `iat` and `nbf` of an organization's assertion may always be in the future, in seconds.
   * This applies even if the issuer has a shorter `clock_tolerance`.
   */
  readonly leastAhead: number;
  /**
   * How far `iat` and `nbf` of an organization's assertion may be in the future at most, in
   * seconds. This applies even if the issuer has a longer `clock_tolerance`.
   */
  readonly longestAhead: number;
  /** Returns the reason why this client cannot get tokens now, or null if it can get tokens. */
  clientProblem(client: ClientMetadata): string | null;
  /**
   * Returns the reason why this client cannot be registered, or null if it can be registered. Also
   * checks rules that apply only at registration.
   */
  registrationProblem(client: ClientMetadata): string | null;
}

/** The properties of a client that determine which profile applies. */
interface GovernedClient {
  readonly profile: string | null;
  readonly grants: readonly Grant[];
}

/** A profile that a server offers. */
export interface OfferedProfile extends SecurityProfile {
  /** Whether the profile applies to the whole server instead of to single clients. */
  readonly isServers: boolean;
  /** The settings that must be turned on before the profile can apply to single clients. */
  readonly missing: readonly string[];
}

const UNKNOWN_PROFILE = 'its profile is unknown on this server';
/**
 * The profile that applies if no feature of this server provides the client's own profile. It
 * refuses all tokens.
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
  leastAhead: 0,
  longestAhead: 0,
  clientProblem: () => UNKNOWN_PROFILE,
  registrationProblem: () => UNKNOWN_PROFILE,
};

/** Finds the profile that applies to a client, and checks the client against it. */
export class Profiles {
  /** The profile that applies to the whole server. Null if the server has no profile. */
  readonly servers: SecurityProfile | null;
  readonly #offered: readonly OfferedProfile[];

  constructor(offered: readonly OfferedProfile[]) {
    this.#offered = offered;
    this.servers = offered.find(({ isServers }) => isServers) ?? null;
  }

  /** Returns the names of all profiles that a client can have. */
  get names(): readonly string[] {
    return this.#offered.map(({ name }) => name);
  }

  /** Returns the profile with this name. Returns null if the name is null. */
  named(name: string | null): SecurityProfile | null {
    return name === null ? null : (this.#offeredAs(name) ?? UNKNOWN);
  }

  /**
   * Returns the profile that applies to this client: its own, or the server's. Returns null if none
   * applies.
   */
  of(client: GovernedClient): SecurityProfile | null {
    return this.named(client.profile) ?? (asksWhatTokensAreGoodFor(client) ? null : this.servers);
  }

  /**
   * Returns the reason why this client cannot get tokens now, for the log. Returns null if the
   * client can get tokens, or if no profile applies.
   */
  refusal(client: ClientMetadata): string | null {
    const profile = this.of(client);
    if (profile === null) return null;
    const offered = this.#offeredAs(profile.name);
    if (offered === undefined) return UNKNOWN_PROFILE;
    const { name, missing } = offered;
    if (missing.length > 0)
      return `it has the profile ${name}, which requires ${missing.join(', ')}`;
    const problem = profile.clientProblem(client);
    return problem === null ? null : `${problem}, which the profile ${name} does not allow`;
  }

  /** Throws a RegistrationError if the profile does not allow this registration. */
  requireRegistrable(client: ClientMetadata): void {
    const profile = this.of(client);
    if (profile === null) return;
    const { name } = profile;
    const { missing = [] } = this.#offeredAs(name) ?? {};
    if (missing.length > 0) {
      throw new RegistrationError(
        `The profile ${name} needs settings that are off: ${missing.join(', ')}; turn them on ` +
          'first',
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
 * Returns whether the client uses only introspection. The server's profile does not apply to such a
 * client, because the client receives no tokens and no data about users.
 */
function asksWhatTokensAreGoodFor({ grants }: GovernedClient): boolean {
  return grants.join() === 'introspection';
}

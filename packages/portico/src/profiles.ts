import { RegistrationError } from './errors.ts';
import { DEFAULT_ALGORITHM } from './keys/algorithms.ts';
import type { ClientMetadata, Grant, SigningAlgorithm } from './store/client.ts';

/** Stricter rules for the whole server or for single clients. Features provide profiles. */
export interface SecurityProfile {
  /** The profile's name in registrations, in client rows and on the console. */
  readonly name: string;
  /** The help of a command shows this after the profile's name. */
  readonly says: string;
  /** Clients may sign with these algorithms. */
  readonly algorithms: readonly string[];
  /**
   * In order of preference. If a registration names no algorithm, Portico uses the first one with a
   * key on the server.
   */
  readonly idTokenAlgorithms: readonly [SigningAlgorithm, ...SigningAlgorithm[]];
  /** Clients may get tokens with these authentication methods. */
  readonly authenticationMethods: readonly string[];
  /** In seconds. */
  readonly longestCode: number;
  /** The HTTP status of a redirect after a GET request. */
  readonly redirectStatus: 302 | 303;
  /** True if a refresh token stays valid after its use. Otherwise, each use replaces it. */
  readonly refreshTokensStay: boolean;
  /** True to treat a missing code verifier as a wrong one. */
  readonly missingVerifierIsWrong: boolean;
  /** True if the `aud` of a client's assertion must be the issuer, as a single string. */
  readonly onlyIssuerIsAudience: boolean;
  /**
   * How far `iat` and `nbf` of an organization's assertion may always be in the future, in seconds,
   * even with a shorter `clock_tolerance`.
   */
  readonly leastAhead: number;
  /**
   * The limit for `iat` and `nbf` of an organization's assertion in the future, in seconds, even
   * with a longer `clock_tolerance`.
   */
  readonly longestAhead: number;
  /** Returns why this client cannot get tokens now, or null. */
  clientProblem(client: ClientMetadata): string | null;
  /**
   * Returns why this client cannot be registered, or null. Also checks rules that apply only at
   * registration.
   */
  registrationProblem(client: ClientMetadata): string | null;
}

interface GovernedClient {
  readonly profile: string | null;
  readonly grants: readonly Grant[];
}

export interface OfferedProfile extends SecurityProfile {
  /** True if the profile applies to the whole server. */
  readonly isServers: boolean;
  /** The settings to turn on before the profile can apply to single clients. */
  readonly missing: readonly string[];
}

const UNKNOWN_PROFILE = 'its profile is unknown on this server';
/** If no feature provides the client's own profile, this one applies. It refuses all tokens. */
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
  /** The profile of the whole server, or null. */
  readonly servers: SecurityProfile | null;
  readonly #offered: readonly OfferedProfile[];

  constructor(offered: readonly OfferedProfile[]) {
    this.#offered = offered;
    this.servers = offered.find(({ isServers }) => isServers) ?? null;
  }

  get names(): readonly string[] {
    return this.#offered.map(({ name }) => name);
  }

  named(name: string | null): SecurityProfile | null {
    return name === null ? null : (this.#offeredAs(name) ?? UNKNOWN);
  }

  /** Returns the client's own profile, or the server's, or null. */
  of(client: GovernedClient): SecurityProfile | null {
    return this.named(client.profile) ?? (asksWhatTokensAreGoodFor(client) ? null : this.servers);
  }

  /** Returns why this client cannot get tokens now, for the log, or null. */
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
 * The server's profile does not apply to a client that only uses introspection. It gets no tokens
 * and no data about users.
 */
function asksWhatTokensAreGoodFor({ grants }: GovernedClient): boolean {
  return grants.join() === 'introspection';
}

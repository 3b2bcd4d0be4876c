import { RegistrationError } from './errors.ts';
import { DEFAULT_ALGORITHM } from './keys/algorithms.ts';
import type { ClientMetadata, Grant, SigningAlgorithm } from './store/client.ts';

/**
 * A security profile: stricter rules for the whole server or for single clients. A feature
 * implements it.
 */
export interface SecurityProfile {
  /** The name of the profile in registrations, in client rows and on the console. */
  readonly name: string;
  /** The text that describes the profile in the command's help. It follows the profile's name. */
  readonly says: string;
  /** The algorithms that clients may sign with. */
  readonly algorithms: readonly string[];
  /**
   * The algorithms for ID tokens. If a client does not choose one, Portico uses the first of them
   * for which the server has a key.
   */
  readonly idTokenAlgorithms: readonly [SigningAlgorithm, ...SigningAlgorithm[]];
  /** The authentication methods with which clients may get tokens. */
  readonly authenticationMethods: readonly string[];
  /** The maximum lifetime of an authorization code, in seconds. */
  readonly longestCode: number;
  /** The HTTP status of redirects in response to GET. */
  readonly redirectStatus: 302 | 303;
  /** Whether a refresh token stays valid after its use. If true, Portico does not replace it. */
  readonly refreshTokensStay: boolean;
  /** Whether a missing code verifier is treated as a wrong one. */
  readonly missingVerifierIsWrong: boolean;
  /** Whether the `aud` of an assertion must be the issuer, as one string. */
  readonly onlyIssuerIsAudience: boolean;
  /** Returns why this client cannot get tokens now. Returns null if it can. */
  clientProblem(client: ClientMetadata): string | null;
  /**
   * Returns why this client cannot be registered. Returns null if it can. Also checks rules that
   * apply only at registration.
   */
  registrationProblem(client: ClientMetadata): string | null;
}

/** The client data that decides which profile applies. */
interface GovernedClient {
  readonly profile: string | null;
  readonly grants: readonly Grant[];
}

/** A profile that a server offers. */
export interface OfferedProfile extends SecurityProfile {
  /** Whether the profile applies to the whole server. */
  readonly isServers: boolean;
  /** The configuration keys that are off, although the profile needs them. */
  readonly missing: readonly string[];
}

const UNKNOWN_PROFILE = 'it is of a profile that is not known here';
/**
 * The profile of clients whose profile no feature of this server provides. These clients get no
 * tokens.
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

/** Decides which profile applies to a client, and whether the profile refuses the client. */
export class Profiles {
  /** The profile that applies to the whole server, or null. */
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
   * Returns the profile that applies to this client: the client's own, or the server's. Returns
   * null if no profile applies.
   */
  of(client: GovernedClient): SecurityProfile | null {
    return this.named(client.profile) ?? (asksWhatTokensAreGoodFor(client) ? null : this.servers);
  }

  /**
   * Returns why this client cannot get tokens now, for the log. Returns null if it can, and for a
   * client without a profile.
   */
  refusal(client: ClientMetadata): string | null {
    const profile = this.of(client);
    if (profile === null) return null;
    const offered = this.#offeredAs(profile.name);
    if (offered === undefined) return UNKNOWN_PROFILE;
    const { name, missing } = offered;
    if (missing.length > 0)
      return `it is of the profile ${name}, which needs ${missing.join(', ')}`;
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
 * Whether the client only uses introspection. The server's profile does not apply to a client like
 * this, because it receives no token and no data about a person.
 */
function asksWhatTokensAreGoodFor({ grants }: GovernedClient): boolean {
  return grants.join() === 'introspection';
}

import type { ConfigurationProblem } from '@portico/sql';
import { RegistrationError } from '../errors.ts';
import { FAPI2_RULES, PROFILED_ALGORITHMS, type ProfiledClient, type ProfiledSwitches } from './fapi2.ts';

/** Which clients the rules of a profile apply to, and which clients they refuse. */
export interface Profiles {
  /** Whether the profile is the whole server's. */
  readonly isServers: boolean;
  /** Whether the rules apply to this client: the server is of the profile, or the client is. */
  readonly governs: (client: ProfiledClient) => boolean;
  /**
   * The only algorithms that this server accepts; null for all that it can verify.
   */
  readonly algorithms: readonly string[] | null;
  /** The same for what this client signs. */
  readonly algorithmsOf: (client: ProfiledClient) => readonly string[] | null;
  /** The same for a client that is itself held to this profile, or to none. */
  readonly algorithmsOfProfile: (profile: string | null) => readonly string[] | null;
  /** Why this client is given nothing now, for the log; null when nothing is against it, as for every client that no profile governs. */
  readonly refusal: (client: ProfiledClient) => string | null;
  /** Throws a RegistrationError when a client cannot be registered as it is said to be. */
  readonly requireRegistrable: (client: ProfiledClient) => void;
}

export const FAPI2 = 'fapi2';

/** The configuration with what its profile demands, where that was left out. */
export function withProfile<Config extends ProfiledSwitches>(config: Config): Config {
  if (config.profile !== FAPI2) return config;
  return { ...config, private_key_jwt: true, dpop: 'require', pushed_authorization_requests: 'require' };
}

/** All that is wrong with a server of the profile, as it is configured. */
export function profileProblems(config: ProfiledSwitches): readonly ConfigurationProblem[] {
  if (config.profile !== FAPI2) return [];
  return FAPI2_RULES.flatMap(({ server }) => server?.(config) ?? []);
}

export function createProfiles(config: ProfiledSwitches): Profiles {
  const isServers = config.profile === FAPI2;
  const missing = FAPI2_RULES.flatMap(({ needs }) => needs?.(config) ?? []);

  const governs = (client: ProfiledClient) =>
    client.profile !== null || (isServers && !asksWhatTokensAreGoodFor(client));

  function refusal(client: ProfiledClient): string | null {
    if (!governs(client)) return null;
    if (client.profile !== null && client.profile !== FAPI2)
      return 'it is of a profile that is not known here';
    if (missing.length > 0) return `it is of the profile fapi2, which needs ${missing.join(', ')}`;
    const problem = first(client, 'client');
    return problem === null ? null : `${problem}, which the profile fapi2 does not allow`;
  }

  return {
    isServers,
    governs,
    algorithms: isServers ? PROFILED_ALGORITHMS : null,
    algorithmsOf: (client) => (governs(client) ? PROFILED_ALGORITHMS : null),
    algorithmsOfProfile: (profile) => (profile === null ? null : PROFILED_ALGORITHMS),
    refusal,
    requireRegistrable(client) {
      if (!governs(client)) return;
      if (missing.length > 0) {
        throw new RegistrationError(`The profile fapi2 needs what is switched off: ${missing.join(', ')}`);
      }
      const problem = first(client, 'client') ?? first(client, 'registration');
      if (problem !== null)
        throw new RegistrationError(`The profile fapi2 does not allow this client: ${problem}`);
    },
  };
}

function first(client: ProfiledClient, when: 'client' | 'registration'): string | null {
  for (const rule of FAPI2_RULES) {
    const problem = rule[when]?.(client) ?? null;
    if (problem !== null) return problem;
  }
  return null;
}

/**
 * An API that only uses introspection is not a client of the profile: it receives no token, and no
 * data about a person.
 */
function asksWhatTokensAreGoodFor({ grants }: ProfiledClient): boolean {
  return grants.join() === 'introspection';
}

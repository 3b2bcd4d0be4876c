import { z } from 'zod';
import { LONGEST_LIFETIME } from '../../keys/times.ts';

/** Equals the maximum number of unused clients without an initial access token. */
const MOST_REGISTRATIONS = 10_000;

/** The minimum lifetime of a secret, in seconds. */
const SHORTEST_TTL = 3600;

const WRONG_TTL =
  `must be "never_expires", or a whole number of seconds from ${SHORTEST_TTL} (an hour) ` +
  `to ${LONGEST_LIFETIME}`;

export const registrationShape = {
  registration: z
    .enum(['off', 'open', 'initial_access_token'], {
      error: 'must be "off", "open" or "initial_access_token"',
    })
    .optional(),
  registrations_per_hour: z
    .int({ error: 'must be a whole number of clients' })
    .min(1, 'must be at least 1 client')
    .max(MOST_REGISTRATIONS, `must be at most ${MOST_REGISTRATIONS} clients`)
    .optional(),
  registration_secret_ttl: z
    .union(
      [
        z.literal('never_expires'),
        z.int().min(SHORTEST_TTL, WRONG_TTL).max(LONGEST_LIFETIME, WRONG_TTL),
      ],
      { error: WRONG_TTL },
    )
    .optional(),
};

export interface RegistrationConfig {
  /**
   * Whether clients can register themselves (RFC 7591, RFC 7592). `off`: they cannot. `open`:
   * anyone can register a public client, or a confidential one if `registration_secret_ttl` or
   * `private_key_jwt` allows it. `initial_access_token`: clients need a token that you create with
   * `oauth:initial-access-token:create`. Default: `off`.
   */
  readonly registration?: 'off' | 'open' | 'initial_access_token' | undefined;
  /**
   * How many clients without an initial access token can register per hour from one network. A
   * network is one IPv4 address or one /64 of IPv6 addresses. If an assistant runs on its vendor's
   * servers, all of its users register from a few addresses. Default: 60.
   */
  readonly registrations_per_hour?: number | undefined;
  /**
   * How long the secret of a client that registers itself is valid, in seconds (3,600 or more), or
   * `never_expires`. With this setting, clients such as Microsoft 365 Copilot can register with
   * `client_secret_basic` or `client_secret_post`. From the last third of this time on, a client
   * gets a new secret when it reads or updates its registration (RFC 7592). Without this setting,
   * only clients with an initial access token get a secret.
   */
  readonly registration_secret_ttl?: number | 'never_expires' | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends RegistrationConfig {}
  interface OAuthServerConfigInput extends RegistrationConfig {}
}

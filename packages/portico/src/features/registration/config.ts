import { z } from 'zod';

/** As many as the server keeps unused. */
const MOST_REGISTRATIONS = 10_000;

/** The keys of `oauth_server` that registration adds. */
export const registrationShape = {
  registration: z
    .enum(['off', 'open', 'initial_access_token'], { error: 'must be off, open or initial_access_token' })
    .optional(),
  registrations_per_hour: z
    .int({ error: 'must be a whole number of clients' })
    .min(1, 'must be at least 1 client')
    .max(MOST_REGISTRATIONS, `must be at most ${MOST_REGISTRATIONS} clients`)
    .optional(),
};

export interface RegistrationConfig {
  /**
   * Whether clients may register themselves (RFC 7591, RFC 7592): `open` for everyone, as a public
   * client; `initial_access_token` for those that you gave a token
   * (`oauth:initial-access-token:create`); or `off`, the default.
   */
  readonly registration?: 'off' | 'open' | 'initial_access_token' | undefined;
  /**
   * How many clients may register from one network (an IPv4 address, or a /64 of IPv6) within an
   * hour without an initial access token. All users of an assistant that runs on its vendor's
   * servers register from a few addresses; 60.
   */
  readonly registrations_per_hour?: number | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends RegistrationConfig {}
  interface OAuthServerConfigInput extends RegistrationConfig {}
}

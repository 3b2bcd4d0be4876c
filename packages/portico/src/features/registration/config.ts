import { z } from 'zod';

/** The highest limit that you can set. The server keeps at most this many unused clients. */
const MOST_REGISTRATIONS = 10_000;

/** The settings that registration adds to `oauth_server`. */
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
   * Whether clients can register themselves (RFC 7591, RFC 7592). `open` lets everyone register a
   * public client. `initial_access_token` requires a token from you, which you create with
   * `oauth:initial-access-token:create`; or `off`, the default.
   */
  readonly registration?: 'off' | 'open' | 'initial_access_token' | undefined;
  /**
   * How many clients can register per hour from one network without an initial access token. A
   * network is one IPv4 address, or one /64 of IPv6 addresses. If an assistant runs on its vendor's
   * servers, all its users register from a few addresses; 60.
   */
  readonly registrations_per_hour?: number | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends RegistrationConfig {}
  interface OAuthServerConfigInput extends RegistrationConfig {}
}

import { RegistrationError } from '../errors.ts';
import type { ClientLogo } from '../store/client.ts';

/** The members for a logo in a registration. */
export interface NamedLogo {
  readonly logo?: Uint8Array;
  readonly logoUri?: string;
}

/** The logos of clients. */
export interface ClientLogos {
  /** Where a browser finds them: the query names the client and the picture. */
  readonly path: string;
  /**
   * Checks the picture of a registration, and returns it. Throws a RegistrationError that
   * says what is wrong with it.
   */
  readonly pictureOf: (named: NamedLogo) => Promise<ClientLogo>;
}

/**
 * The logo of a registration, or undefined. Throws a RegistrationError, also where
 * clients have no logos (null).
 */
export async function namedLogo(
  named: NamedLogo,
  logos: ClientLogos | null,
): Promise<ClientLogo | undefined> {
  if (named.logo === undefined && named.logoUri === undefined) return undefined;
  if (logos === null) throw new RegistrationError('oauth_server:client_logos is off; set it to true first');
  return logos.pictureOf(named);
}

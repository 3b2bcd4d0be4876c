import { RegistrationError } from '../errors.ts';
import type { ClientLogo } from '../store/client.ts';

/** The logo fields in a registration. */
export interface NamedLogo {
  readonly logo?: Uint8Array;
  readonly logoUri?: string;
}

/** Checks and serves client logos. */
export interface ClientLogos {
  /** The path that serves all logos. The query of the URL selects the client and the picture. */
  readonly path: string;
  /**
   * Checks the logo in a registration and returns it. Throws a RegistrationError with an
   * explanation if the logo is not valid.
   */
  readonly pictureOf: (named: NamedLogo) => Promise<ClientLogo>;
}

/**
 * Returns the logo in a registration, or undefined if it contains no logo. Throws a
 * RegistrationError if the logo is not valid. Also throws if there is a logo but `logos` is null,
 * because this server serves no logos.
 */
export async function namedLogo(
  named: NamedLogo,
  logos: ClientLogos | null,
): Promise<ClientLogo | undefined> {
  if (named.logo === undefined && named.logoUri === undefined) return undefined;
  if (logos === null)
    throw new RegistrationError('oauth_server:client_logos is off; set it to true first');
  return logos.pictureOf(named);
}

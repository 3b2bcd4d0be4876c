import { RegistrationError } from '../errors.ts';
import type { ClientLogo } from '../store/client.ts';

/** The logo fields in a registration. */
export interface NamedLogo {
  readonly logo?: Uint8Array;
  readonly logoUri?: string;
}

/** Checks and serves client logos. */
export interface ClientLogos {
  /** The path of all logos. The query selects the client and the picture. */
  readonly path: string;
  /**
   * Checks a registration's logo and returns it. Throws a RegistrationError that explains the
   * problem.
   */
  readonly pictureOf: (named: NamedLogo) => Promise<ClientLogo>;
}

/**
 * Returns a registration's logo, or undefined if it has none. Throws a RegistrationError if the
 * logo is not valid, or if it has a logo but `logos` is null.
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

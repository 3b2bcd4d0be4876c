import { RegistrationError } from '../errors.ts';
import type { ClientLogo } from '../store/client.ts';

export interface NamedLogo {
  readonly logo?: Uint8Array;
  readonly logoUri?: string;
}

export interface ClientLogos {
  /** The path of all logos. The query selects the client and the picture. */
  readonly path: string;
  /** Throws a RegistrationError with an explanation if the logo is invalid. */
  readonly pictureOf: (named: NamedLogo) => Promise<ClientLogo>;
}

/**
 * Returns the logo in a registration, or undefined. Throws a RegistrationError for an invalid logo,
 * or if this server serves no logos (`logos` is null).
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

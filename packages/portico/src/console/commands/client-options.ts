import { readFile } from 'node:fs/promises';
import type { ConsoleContext } from '../../application/contracts.ts';
import type { ClientRegistration } from '../../clients/registration.ts';
import { RegistrationError } from '../../errors.ts';

/** How several client commands read their options. */

/** For an option that may be repeated. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** For an option with comma-separated values that may be repeated. */
export function collectList(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(/[\s,]+/).filter((item) => item !== '')];
}

/** Warns about the attacks that a scheme of `--allow-scheme` cannot prevent. */
export function warnOfSchemes(context: ConsoleContext, schemes: readonly string[] = []): void {
  for (const scheme of schemes) {
    context.note(
      `Warning: any program on a device can claim ${scheme}: and take the answer in place of this application. PKCE keeps it from using ` +
        'a code that it did not ask for; it can ask for one under the name of this application.',
    );
  }
}

/**
 * Reads `--logo`: a file, or a URL that is fetched once. Throws a RegistrationError if the file
 * cannot be read.
 */
export async function namedLogo(
  logo: string | undefined,
): Promise<{ readonly logo?: Uint8Array; readonly logoUri?: string }> {
  if (logo === undefined) return {};
  if (/^https?:/i.test(logo)) return { logoUri: logo };
  try {
    return { logo: await readFile(logo) };
  } catch (cause) {
    throw new RegistrationError(`The logo ${logo} cannot be read: it is not a file`, { cause });
  }
}

type NamedKeys = Pick<ClientRegistration, 'jwks' | 'jwksUri' | 'tokenEndpointAuthSigningAlg'>;

/** Reads `--jwks` and `--jwks-alg`. Throws a RegistrationError if the file cannot be read. */
export async function namedKeys({
  jwks,
  jwksAlg,
}: {
  readonly jwks?: string;
  readonly jwksAlg?: string;
}): Promise<NamedKeys> {
  const algorithm = jwksAlg === undefined ? {} : { tokenEndpointAuthSigningAlg: jwksAlg };
  if (jwks === undefined) return algorithm;
  if (/^https?:/i.test(jwks)) return { ...algorithm, jwksUri: jwks };
  try {
    return { ...algorithm, jwks: JSON.parse(await readFile(jwks, 'utf8')) as unknown };
  } catch (cause) {
    throw new RegistrationError(`The key set ${jwks} cannot be read: it is not a file, or not JSON`, {
      cause,
    });
  }
}

/** `RS256, ES256 or EdDSA`. */
export function joinAlternatives(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]+)$/, ' or $1');
}

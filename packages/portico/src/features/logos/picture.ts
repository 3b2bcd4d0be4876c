import { createHash } from 'node:crypto';
import { imageFacts } from '../../http/images.ts';
import { RegistrationError } from '../../errors.ts';
import type { FetchImage } from '../../http/outbound/fetch-json.ts';
import type { ClientLogo } from '../../store/client.ts';
import { uriTextProblem } from '../../http/outbound/uri-text.ts';
import type { NamedLogo } from '../../clients/logos.ts';

/** The maximum size of a logo, in bytes. */
export const LARGEST_LOGO = 65_536;
/** The maximum width and height, in pixels. */
const LONGEST_SIDE = 512;

/**
 * Returns the logo of a registration. Fetches it if the registration names a URL. Throws a
 * RegistrationError if Portico cannot use it.
 */
export async function getPicture(
  { logo, logoUri }: NamedLogo,
  fetchImage: FetchImage,
): Promise<ClientLogo> {
  if (logo !== undefined && logoUri !== undefined) {
    throw new RegistrationError('Pass the logo either as an image or as a URL, not both');
  }
  return checkLogo(logo ?? (await fetched(logoUri ?? '', fetchImage)));
}

/** Throws a RegistrationError with the problem if the image cannot be a logo. */
export function checkLogo(bytes: Uint8Array): ClientLogo {
  if (bytes.length > LARGEST_LOGO) {
    throw new RegistrationError(`The logo is larger than ${LARGEST_LOGO / 1024} KB`);
  }
  const facts = imageFacts(bytes);
  if (facts === null) throw new RegistrationError('The logo is not a PNG, JPEG, GIF or WebP image');
  if (facts.width > LONGEST_SIDE || facts.height > LONGEST_SIDE) {
    throw new RegistrationError(
      `The logo is ${facts.width} × ${facts.height} pixels; the maximum is ${LONGEST_SIDE} ` +
        `× ${LONGEST_SIDE}`,
    );
  }
  return {
    hash: createHash('sha256').update(bytes).digest('base64url'),
    mediaType: facts.mediaType,
    bytes: Uint8Array.from(bytes),
  };
}

/** Fetches a logo once, from the URL that an operator entered. Browsers never request this URL. */
async function fetched(address: string, fetchImage: FetchImage): Promise<Uint8Array> {
  const problem = uriTextProblem(address);
  if (problem !== null) throw new RegistrationError(`The URL of the logo ${problem}`);
  if (!URL.canParse(address)) throw new RegistrationError('The URL of the logo is not valid');
  try {
    return await fetchImage(new URL(address), {
      limit: LARGEST_LOGO,
      person: 'operator',
      isKnown: false,
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RegistrationError(`The logo cannot be fetched: ${reason}`, { cause });
  }
}

import { RegistrationError } from '../errors.ts';

/** In characters. */
const LONGEST_SITE = 2048;

/**
 * The site of a client, as it is kept. Throws a RegistrationError for what people should not be led
 * to.
 */
export function checkSite(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new RegistrationError('The site of the client must be an https URL without user and password');
  }
  if (url.href.length > LONGEST_SITE) {
    throw new RegistrationError(`The site of the client is longer than ${LONGEST_SITE} characters`);
  }
  return url.href;
}

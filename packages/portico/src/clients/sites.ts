import { RegistrationError } from '../errors.ts';

/** The maximum length of a website's URL, in characters. */
const LONGEST_SITE = 2048;

/**
 * Checks the URL of a client's website and returns it in normalized form. Throws a
 * RegistrationError if the URL is not https, contains credentials, or is too long.
 */
export function checkSite(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new RegistrationError(
      'The website of the client must be an https URL without a user name or password',
    );
  }
  if (url.href.length > LONGEST_SITE) {
    throw new RegistrationError(
      `The website of the client is longer than ${LONGEST_SITE} characters`,
    );
  }
  return url.href;
}

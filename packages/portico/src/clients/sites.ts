import { RegistrationError } from '../errors.ts';

const LONGEST_SITE = 2048;

/**
 * Returns the website's URL in normalized form. Throws a RegistrationError if it is not https,
 * contains credentials, or is too long.
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

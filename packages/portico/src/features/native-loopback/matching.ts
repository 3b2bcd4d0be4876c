import { loopbackParts, type MayRedirect } from '../../clients/redirect-uris.ts';

/**
 * Accepts any port in a native application's loopback redirect URI (RFC 8252 section 7.3). The
 * operating system chooses the port. The rest of the URI must match.
 */
export const isOnAnotherPort: MayRedirect = ({ redirectUris, applicationType }, uri) => {
  const asked = applicationType === 'native' ? loopbackParts(uri) : null;
  if (asked === null) return false;
  return redirectUris.some((each) => {
    const registered = loopbackParts(each);
    return registered !== null && registered.host === asked.host && registered.rest === asked.rest;
  });
};

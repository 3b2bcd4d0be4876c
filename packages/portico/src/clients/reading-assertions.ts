import { JwsError, parseJws } from '../keys/jws/compact.ts';
import type { Parameters } from '../parameters.ts';
import type { AssertionCredentials, AssertionReader } from './credentials.ts';

/** The `client_assertion_type` for a JWT (RFC 7523 section 2.2). */
export const JWT_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** The `client_assertion_type` for a JWT-SVID (draft-ietf-oauth-spiffe-client-auth section 3.1). */
export const JWT_SVID_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe';

/** Returns a reader for JWT assertions of these types (RFC 7521 section 4.2). */
export function assertionReader(types: readonly string[]): AssertionReader {
  return {
    isSent: (form) => form.has('client_assertion') || form.has('client_assertion_type'),
    read: (form, clientId) => readAssertion(form, clientId, types),
  };
}

function readAssertion(
  form: Parameters,
  clientId: string | undefined,
  types: readonly string[],
): AssertionCredentials {
  const sent = form.require('client_assertion');
  const type = form.require('client_assertion_type');
  const read = { method: 'assertion', type, clientId: clientId ?? '' } as const;
  if (!types.includes(type))
    return { ...read, assertion: new JwsError('its client_assertion_type is not that of a JWT') };
  try {
    const assertion = parseJws(sent);
    const { sub } = assertion.payload;
    return {
      ...read,
      clientId: clientId ?? (typeof sub === 'string' ? sub : ''),
      assertion,
    };
  } catch (error) {
    if (!(error instanceof JwsError)) throw error;
    return { ...read, assertion: error };
  }
}

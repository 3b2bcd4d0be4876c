import {
  PRIVATE_KEY_JWT,
  type AssertionCredentials,
  type AssertionReader,
} from '../../clients/credentials.ts';
import { JwsError, parseJws } from '../../keys/jws/compact.ts';
import type { Parameters } from '../../parameters.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Reads an assertion that is a JWT (RFC 7523 section 2.2). */
export const JWT_READER: AssertionReader = {
  isSent: (form) => form.has('client_assertion') || form.has('client_assertion_type'),
  read: readAssertion,
};

function readAssertion(form: Parameters, clientId: string | undefined): AssertionCredentials {
  const sent = form.require('client_assertion');
  if (form.require('client_assertion_type') !== ASSERTION_TYPE) {
    return {
      method: PRIVATE_KEY_JWT,
      clientId: clientId ?? '',
      assertion: new JwsError('its client_assertion_type is not that of a JWT'),
    };
  }
  try {
    const assertion = parseJws(sent);
    const { sub } = assertion.payload;
    return {
      method: PRIVATE_KEY_JWT,
      clientId: clientId ?? (typeof sub === 'string' ? sub : ''),
      assertion,
    };
  } catch (error) {
    if (!(error instanceof JwsError)) throw error;
    return { method: PRIVATE_KEY_JWT, clientId: clientId ?? '', assertion: error };
  }
}

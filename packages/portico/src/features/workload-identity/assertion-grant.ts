import type { AssertionGrant } from '../../grants/assertion-grant.ts';
import { JwsError, parseJws, type JsonObject } from '../../keys/jws/compact.ts';
import { createParameters } from '../../parameters.ts';
import type { Server } from '../../server.ts';
import { typeOfToken } from './workload-tokens.ts';

/** The `grant_type` of a request with an assertion (RFC 7523 section 2.1). */
export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** What this feature changes in the form. */
const CHANGED = ['grant_type', 'assertion'] as const;
/** Other ways in which the client could authenticate. */
const CREDENTIALS = ['client_secret', 'client_assertion', 'client_assertion_type'] as const;

/**
 * Returns a function that reads requests of workloads which send their token as the assertion of a
 * grant, and name their client (MCP, SEP-1933). It is the same as `client_credentials` with this
 * token as the `client_assertion`.
 */
export function workloadGrant(server: Server): AssertionGrant {
  return (request, form) => {
    const assertion = form.get('assertion');
    if (form.get('grant_type') !== JWT_BEARER_GRANT || assertion === undefined) return null;
    if (!form.has('client_id') || request.headers.has('authorization')) return null;
    if (CREDENTIALS.some((name) => form.has(name))) return null;
    const claims = claimsOf(assertion);
    const type = claims === null ? null : typeOfToken(server, claims);
    if (type === null) return null;
    const kept = [...form.values].filter(([name]) => !CHANGED.some((each) => each === name));
    return createParameters(
      new URLSearchParams([
        ...kept.filter(([, value]) => value !== ''),
        ['grant_type', 'client_credentials'],
        ['client_assertion', assertion],
        ['client_assertion_type', type],
      ]),
    );
  };
}

/** Returns the claims, before they are verified. Null if the text is not a JWT. */
function claimsOf(assertion: string): JsonObject | null {
  try {
    return parseJws(assertion).payload;
  } catch (error) {
    if (error instanceof JwsError) return null;
    throw error;
  }
}
